//! x
/// x
#[derive(Clone, Debug)]
pub struct Deadlock;
impl Deadlock { /// x
pub fn detail(&self)->String{String::new()} /// x
pub fn hint(&self)->String{String::new()} }
