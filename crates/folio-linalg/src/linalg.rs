//! A queue with the libraries of its device.

use crate::fft::Tables;
use crate::prelude::*;
use crate::{Choice, LibraryError};
use folio::hal::DeviceKind;
#[cfg(feature = "cuda")]
use {
    crate::cuda::{OnCuda, System},
    std::any::TypeId,
};

/// A queue, and the libraries of its device. Calls submit commands to the queue.
///
/// ```
/// use folio::linalg::{Choice, Library, Linalg};
///
/// let rt = folio::runtime()?;
/// let linalg = Linalg::new(&rt.queue()?)?.with_choice(Choice::Own);
/// let a = rt.buffer_from((&[0.5f64; 6], [2, 3]))?;
/// let b = rt.buffer_from((&[2.0f64; 3], [3, 1]))?;
/// let mut c = rt.buffer([2, 1])?;
/// assert_eq!(linalg.matmul(&a, &b, &mut c)?, Library::Own);
/// assert_eq!(c.to_vec()?, [3.0, 3.0]);
/// # Ok::<(), folio::Error>(())
/// ```
pub struct Linalg {
    pub(crate) q: Queue,
    pub(crate) choice: Choice,
    missing: Vec<LibraryError>,
    pub(crate) tables: Tables,
    #[cfg(feature = "cuda")]
    pub(crate) cuda: Option<OnCuda>,
}

impl Linalg {
    /// Finds the libraries of the queue's device. On a GPU of NVIDIA's this waits until they are
    /// set up. A library that is not there is no error: see [`missing`](Self::missing).
    pub fn new(q: &Queue) -> Result<Linalg> {
        let linalg = Linalg {
            q: q.clone(),
            choice: Choice::Auto,
            missing: vec![],
            tables: Tables::default(),
            #[cfg(feature = "cuda")]
            cuda: None,
        };
        #[cfg(feature = "cuda")]
        let linalg = linalg.on_cuda()?;
        Ok(linalg)
    }

    /// The same with another choice of code.
    #[must_use]
    pub fn with_choice(self, choice: Choice) -> Linalg {
        Linalg { choice, ..self }
    }

    /// The own kernels on the same queue, for a solver's graph.
    pub(crate) fn again(&self) -> Linalg {
        Linalg {
            q: self.q.clone(),
            choice: Choice::Auto,
            missing: vec![],
            tables: Tables::default(),
            #[cfg(feature = "cuda")]
            cuda: None,
        }
    }

    /// The libraries that the device could have, and why they are not used.
    pub fn missing(&self) -> &[LibraryError] {
        &self.missing
    }

    /// The queue.
    pub fn queue(&self) -> &Queue {
        &self.q
    }

    /// The device runs the host's code, in the host's memory.
    pub(crate) fn is_on_host(&self) -> bool {
        let device = self.q.device();
        device.info().caps.closures && device.info().kind == DeviceKind::Cpu
    }

    /// No library has taken a call: an error where one has to.
    pub(crate) fn without_library(&self, what: &'static str) -> Result<()> {
        if self.choice != Choice::Library {
            return Ok(());
        }
        let why = self.missing.first().cloned().unwrap_or(LibraryError::None { what });
        Err(folio::Error::Configuration { what: "choice of a library", why: why.to_string() })
    }

    /// NVIDIA's libraries, where calls may take one.
    #[cfg(feature = "cuda")]
    pub(crate) fn nvidia(&self) -> Option<&OnCuda> {
        self.cuda.as_ref().filter(|_| self.choice != Choice::Own)
    }

    #[cfg(feature = "cuda")]
    fn on_cuda(self) -> Result<Linalg> {
        if self.q.device().info().caps.native != Some(TypeId::of::<folio_cuda::Native>()) {
            return Ok(self);
        }
        let (cuda, missing) = OnCuda::open(&self.q, &System)?;
        Ok(Linalg { cuda: Some(cuda), missing, ..self })
    }
}
