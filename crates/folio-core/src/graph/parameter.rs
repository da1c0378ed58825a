//! Parameters of graphs: values that nodes share, and that can be exchanged between runs.

use crate::sync::Mutex;
use std::sync::Arc;

/// A value that nodes of graphs are described with: a scalar, a shared buffer, a slice's range, the
/// items of a launch, which of several kernels. A run after [`set`](Self::set) uses the new one;
/// runs that were submitted before do not. Handles are cheap to clone, and mean one value.
///
/// ```
/// # use folio_core::{Parameter, Result, Runtime};
/// fn counts(rt: &Runtime) -> Result<()> {
///     let (x, value) = (rt.buffer::<i32, 1>(4)?.into_shared(), Parameter::new(1));
///     let graph = rt.graph("cpu")?;
///     let (to, filled) = (x.clone(), value.clone());
///     graph.add_updatable(&[], move |cg| {
///         let value = cg.parameter(&filled);
///         cg.fill(&to, value);
///         Ok(())
///     })?;
///     let (run, q) = (graph.finalize()?, rt.queue_on("cpu")?);
///     q.run_graph(&run)?;
///     value.set(2);
///     q.run_graph(&run)?;
///     assert_eq!(x.to_vec()?, [2; 4]);
///     Ok(())
/// }
/// ```
pub struct Parameter<T>(Arc<Value<T>>);

/// A value, and how often it has been exchanged.
struct Value<T>(Mutex<(Arc<T>, u64)>);

/// A value that may have changed since it was read.
pub(crate) trait Changes: Send + Sync {
    /// How often it has been exchanged.
    fn version(&self) -> u64;
}

impl<T: Send + Sync> Changes for Value<T> {
    fn version(&self) -> u64 {
        self.0.lock().1
    }
}

impl<T> Clone for Parameter<T> {
    fn clone(&self) -> Self {
        Parameter(self.0.clone())
    }
}

impl<T: Clone + Send + Sync + 'static> Parameter<T> {
    /// A parameter with this value.
    pub fn new(value: T) -> Parameter<T> {
        Parameter(Arc::new(Value(Mutex::new((Arc::new(value), 0)))))
    }

    /// Exchanges the value, for runs that are submitted from now on.
    pub fn set(&self, value: T) {
        let old = {
            let mut held = self.0.0.lock();
            held.1 += 1;
            std::mem::replace(&mut held.0, Arc::new(value))
        };
        // Without the lock: its drop is the user's.
        drop(old);
    }

    /// The value.
    pub fn get(&self) -> T {
        self.read().0
    }

    /// The value, and how to see whether it has changed.
    pub(crate) fn read(&self) -> (T, (Arc<dyn Changes>, u64)) {
        let (value, version) = {
            let held = self.0.0.lock();
            (held.0.clone(), held.1)
        };
        // Without the lock: its clone and its drop are the user's.
        (T::clone(&value), (self.0.clone(), version))
    }
}

impl<T: Clone + Send + Sync + std::fmt::Debug + 'static> std::fmt::Debug for Parameter<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Parameter").field(&self.get()).finish()
    }
}
