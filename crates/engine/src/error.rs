//! The error of a run or of one submit: a fault, the call that returned it, and any second error of the run.

#![forbid(unsafe_code)]

use core::fmt;

use ringlane_task::{Explain, ViewError};

use crate::api::backend::Site;
use crate::fault::Fault;
use crate::stall::place;

/// The result of the engine's operations.
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

/// The content of an error.
#[derive(Clone)]
struct Report {
    fault: Fault,
    /// The call that returned it, if the fault does not name it.
    site: Option<Site>,
    /// A second error of the same run.
    also: Option<Error>,
}

impl Error {
    /// An error defined by the orchestration; the run returns it unchanged.
    pub fn user(text: impl fmt::Display) -> Self {
        Fault::User(text.to_string()).into()
    }

    /// The underlying fault.
    pub fn fault(&self) -> &Fault {
        &self.0.fault
    }

    /// A second error of the same run: a task failed, and the orchestration then stopped for another reason.
    pub fn also(&self) -> Option<&Error> {
        self.0.also.as_ref()
    }

    /// The same error, returned by the call at `site`. An error keeps the first site that it gets.
    #[cold]
    #[inline(never)]
    pub(crate) fn at(mut self, site: Site) -> Self {
        if self.0.fault.is_of_its_call() {
            self.0.site.get_or_insert(site);
        }
        self
    }

    /// The same error with a second one of the same run, unless both are of one kind: `read` also returns a failed task.
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
