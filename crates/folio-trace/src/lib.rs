//! Folio's operations over time, as a file that Chrome's tracing page and [Perfetto] open: a track
//! for each lane, copies with their bytes, arrows from what a command waited for.
//!
//! [`layer`] is a layer of [`tracing_subscriber`], for programs with a subscriber of their own.
//! [`from_environment`] installs one where `FOLIO_TRACE` names a file; with the feature `trace`,
//! `folio::builder` calls it, and `folio trace PROGRAM` sets the variable.
//!
//! The file is a JSON array of events, one a line, each written when it is known: what a program
//! that crashes has told is there. [`Trace::finish`] closes the array; the format does not ask for
//! that, but readers of plain JSON do.
//!
//! The times are the host's. An operation begins when it was handed over, and what was before it on
//! its lane and what it waited for have ended. The end is when the engine knows that it has ended.
//!
//! [Perfetto]: https://ui.perfetto.dev

mod fields;
mod recorder;

use recorder::Recorder;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tracing::span::{Attributes, Id};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// The variable that names the file.
pub const VARIABLE: &str = "FOLIO_TRACE";

/// A file that is being written. Clones are the same.
#[derive(Clone)]
pub struct Trace(Arc<Mutex<Recorder>>);

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trace")
    }
}

impl Trace {
    fn recorder(&self) -> MutexGuard<'_, Recorder> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the file; what is told later is left out. Tells the first error of all that was
    /// written.
    pub fn finish(&self) -> io::Result<()> {
        self.recorder().finish()
    }
}

/// A layer that writes what Folio tells to a new file. See [`Trace::finish`].
///
/// ```
/// use tracing_subscriber::layer::SubscriberExt;
///
/// let file = std::env::temp_dir().join(format!("folio-doc-{}.json", std::process::id()));
/// let (layer, trace) = folio_trace::layer(&file)?;
/// let subscriber = tracing_subscriber::registry().with(layer);
/// tracing::subscriber::with_default(subscriber, || { /* the program */ });
/// trace.finish()?;
/// # std::fs::remove_file(file)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn layer<S>(file: impl AsRef<Path>) -> io::Result<(impl Layer<S> + Send + Sync, Trace)>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let trace = Trace(Arc::new(Mutex::new(Recorder::new(File::create(file)?)?)));
    let of_folio = filter_fn(|metadata| metadata.target() == "folio");
    Ok((Writer(trace.clone()).with_filter(of_folio), trace))
}

/// The file of `FOLIO_TRACE` cannot be written.
#[derive(Debug)]
pub struct NoFile {
    /// The variable's value.
    pub file: PathBuf,
    /// Why.
    pub error: io::Error,
}

impl fmt::Display for NoFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{VARIABLE}: {}: {}", self.file.display(), self.error)
    }
}

impl std::error::Error for NoFile {}

/// Writes a trace of the whole process where [`VARIABLE`] names a file, from the first call on.
/// True if there is one now. A program that has a subscriber keeps it: then there is none.
pub fn from_environment() -> Result<bool, NoFile> {
    static BEGUN: Mutex<bool> = Mutex::new(false);
    let mut begun = BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
    let file = std::env::var_os(VARIABLE).filter(|file| !file.is_empty()).map(PathBuf::from);
    let Some(file) = file.filter(|_| !*begun) else { return Ok(*begun) };
    let (layer, _) = match layer(&file) {
        Ok(layer) => layer,
        Err(error) => return Err(NoFile { file, error }),
    };
    *begun = tracing::subscriber::set_global_default(Registry::default().with(layer)).is_ok();
    Ok(*begun)
}

/// The layer.
struct Writer(Trace);

/// A span of Folio's: a call that submits something.
struct Call {
    fields: fields::Fields,
    entered: Option<Instant>,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Writer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = fields::Fields::default();
        attributes.record(&mut fields);
        fields.unquote("label");
        // The number by which a command is found again.
        fields.put("submission", fields::Value::Number(id.into_u64()));
        span.extensions_mut().insert(Call { fields, entered: None });
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(call) = span.extensions_mut().get_mut::<Call>() {
            call.entered = Some(Instant::now());
        }
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut extensions = span.extensions_mut();
        let Some(call) = extensions.get_mut::<Call>() else { return };
        if let Some(entered) = call.entered.take() {
            self.0.recorder().call(span.name(), &call.fields, entered);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = fields::Fields::default();
        event.record(&mut fields);
        fields.unquote("label");
        if let Some(span) = context.event_span(event) {
            fields.put("submission", fields::Value::Number(span.id().into_u64()));
        }
        self.0.recorder().event(fields);
    }
}
