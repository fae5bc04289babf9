//! The error of a run or of one submit: a fault, the call that met it, and what else went wrong.

use core::fmt;

use ringlane_task::{Explain, ViewError};

use crate::api::backend::Site;
use crate::fault::Fault;
use crate::stall::place;

/// What the engine's operations answer.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// An error of a run or of one submit.
///
/// ```
/// use ringlane_engine::prelude::*;
/// let error = Error::user("the table is empty");
/// assert_eq!(error.name(), "UserError");
/// ```
#[derive(Clone)]
pub struct Error(Box<Report>);

/// What an error says.
#[derive(Clone)]
struct Report {
    fault: Fault,
    /// The call that met it, where the fault does not say so itself.
    site: Option<Site>,
    /// What went wrong besides.
    also: Option<Error>,
}

impl Error {
    /// An error of the orchestration's own, carried out of the run unchanged.
    pub fn user(text: impl fmt::Display) -> Self {
        Fault::User(text.to_string()).into()
    }

    /// The fault behind it.
    pub fn fault(&self) -> &Fault {
        &self.0.fault
    }

    /// Another error of the same run: a task failed, and the orchestration then stopped for a reason of its own.
    pub fn also(&self) -> Option<&Error> {
        self.0.also.as_ref()
    }

    /// The same, met by the call at this place. An error keeps the first place that it was given.
    #[cold]
    #[inline(never)]
    pub(crate) fn at(mut self, site: Site) -> Self {
        if self.0.fault.is_of_its_call() {
            self.0.site.get_or_insert(site);
        }
        self
    }

    /// The same beside another error of the same run, unless that says the same: a failed task is also what `read` gives.
    pub(crate) fn beside(mut self, other: Option<Error>) -> Self {
        let kind = core::mem::discriminant(self.fault());
        let other = other.filter(|other| core::mem::discriminant(other.fault()) != kind);
        self.0.also = self.0.also.take().or(other);
        self
    }
}

impl From<Fault> for Error {
    #[cold]
    fn from(fault: Fault) -> Self {
        Error(Box::new(Report { fault, site: None, also: None }))
    }
}

impl From<ViewError> for Error {
    #[cold]
    fn from(error: ViewError) -> Self {
        Fault::View(error).into()
    }
}

ringlane_task::display_explained!(Error);

impl fmt::Debug for Error {
    /// As `Display`: it is what `main` and `unwrap` show.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for Error {}

impl Explain for Error {
    fn name(&self) -> &'static str {
        self.fault().name()
    }

    fn summary(&self) -> String {
        self.fault().summary()
    }

    fn detail(&self) -> String {
        let mut detail = self.fault().detail();
        if let Some(site) = self.0.site {
            detail = format!("{}: {detail}", place(site));
        }
        match self.also() {
            Some(also) => format!("{detail}; and {}: {}", also.name(), also.detail()),
            None => detail,
        }
    }

    fn hint(&self) -> String {
        match self.also() {
            Some(also) => format!("{}; for {}: {}", self.fault().hint(), also.name(), also.hint()),
            None => self.fault().hint(),
        }
    }
}
