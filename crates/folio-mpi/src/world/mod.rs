//! One program on many ranks: each has a runtime over the devices of all of them.
//!
//! All ranks run the same program and so make the same commands, of which each runs those of its
//! own devices. A device of another rank is *elsewhere*: it has no memory here, and its launches do
//! nothing. So all ranks plan the same copies, and a copy between two of them is a message, which
//! both ends know of, without a question. The memory of the host is each rank's own and equal
//! on all: what a device brings to the host it sends to all ranks.
//!
//! | file | what it keeps |
//! | --- | --- |
//! | `device.rs` | devices, here and elsewhere, and the backend that has them |
//! | `lane.rs` | lanes: what goes on to the device's own, and what is left to the conductor |
//! | `job.rs` | an operation that the conductor does: what it sends, receives, and copies |
//! | `conductor.rs` | the thread that makes all calls of the wire, and does the jobs |
//! | `state.rs` | what that thread shares with those of the program |
//! | `commands.rs` | the commands of each device, by names that all ranks know, and the comparison |
//! | `note.rs` | what they tell each other |

mod commands;
mod conductor;
mod device;
mod job;
mod lane;
mod note;
mod state;

use crate::{Error, wire};
use conductor::Conductor;
use device::WorldBackend;
use folio_core::hal::{Backend, Rank, Wire};
use state::Shared;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// How long a rank may say nothing.
const PATIENCE: Duration = Duration::from_secs(2);

/// The ranks that run this program, as one machine with the devices of all.
///
/// Each rank gives it the same backends, and has as many devices as each other one. Devices have
/// the numbers of their rank: of two ranks with two devices each, the second has devices 2 and 3.
///
/// ```
/// use folio_core::Runtime;
/// use folio_core::sched::Split;
/// use folio_mpi::World;
/// # let backend = folio_sim::SimBackend::builder().build();
///
/// let world = World::join()?;
/// let rt = Runtime::builder().backend(backend).layer(|backend| world.over(backend)).build()?;
/// let q = rt.queue_over(&rt.devices(), Split::rows())?;
/// println!("rank {} of {}", world.me(), world.ranks());
/// # drop((q, rt));
/// world.leave();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct World {
    shared: Arc<Shared>,
    /// Backends so far.
    backends: Arc<AtomicU32>,
    /// The last of these ends the conductor.
    stay: Arc<Stay>,
}

/// Keeps this rank in its world.
struct Stay(Arc<Shared>);

impl Drop for Stay {
    fn drop(&mut self) {
        self.0.lock().is_leaving = true;
        self.0.wake.notify_all();
    }
}

impl World {
    /// Joins the world that this process was started in; without a launcher, a world of one rank.
    ///
    /// # Errors
    /// As [`wire`](crate::wire()).
    pub fn join() -> Result<World, Error> {
        World::with(wire, PATIENCE)
    }

    /// A world over another wire, which a thread of its own opens and uses. A rank that says
    /// nothing for longer than `patience` is lost.
    ///
    /// # Errors
    /// What `open` returns, and [`Error::Thread`] if there is no such thread.
    pub fn with<E>(
        open: impl FnOnce() -> Result<Box<dyn Wire>, E> + Send + 'static,
        patience: Duration,
    ) -> Result<World, Error>
    where
        Error: From<E>,
    {
        let (told, opened) = mpsc::channel();
        let work = move || {
            let wire = match open() {
                Ok(wire) => wire,
                Err(error) => {
                    // Without a receiver there is nothing to tell.
                    let _ = told.send(Err(Error::from(error)));
                    return;
                }
            };
            let shared = Arc::new(Shared::new(wire.me(), wire.ranks()));
            if told.send(Ok(shared.clone())).is_ok() {
                Conductor::new(wire, shared, patience).work();
            }
        };
        let thread = thread::Builder::new().name("folio world".into()).spawn(work);
        thread.map_err(|error| Error::Thread { why: error.to_string() })?;
        let ended = |_| Error::Thread { why: "it has ended".into() };
        let shared = opened.recv().map_err(ended)??;
        let driven = shared.clone();
        let thread = thread::Builder::new().name("folio world lanes".into());
        let started = thread.spawn(move || driven.drive());
        started.map_err(|error| Error::Thread { why: error.to_string() })?;
        let stay = Arc::new(Stay(shared.clone()));
        Ok(World { shared, backends: Arc::default(), stay })
    }

    /// This rank.
    pub fn me(&self) -> Rank {
        self.shared.me
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> Rank {
        self.shared.ranks
    }

    /// The devices of this backend on all ranks. All ranks do so for the same backends in the same
    /// order, and for each once.
    pub fn over(&self, backend: Arc<dyn Backend>) -> Arc<dyn Backend> {
        let number = self.backends.fetch_add(1, Ordering::Relaxed);
        Arc::new(WorldBackend::new(backend, number, self.shared.clone(), self.stay.clone()))
    }

    /// Messages and bytes that this rank has sent to each rank; notes are not counted.
    pub fn sent(&self) -> Vec<(u64, u64)> {
        self.shared.lock().sent.clone()
    }

    /// Leaves the world, and waits until all ranks do so. A runtime over the world, and all that is
    /// its, is dropped before. Otherwise it waits for that, too; but of a world that is torn, in
    /// which a rank is lost or does something else, not for long.
    pub fn leave(self) {
        let World { shared, backends: _, stay } = self;
        drop(stay);
        let begun = Instant::now();
        let mut state = shared.lock();
        while !(state.has_ended || (state.apart.is_some() && begun.elapsed() > PATIENCE)) {
            state = shared.wait(state);
        }
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "World(rank {} of {})", self.me(), self.ranks())
    }
}
