//! The code of instances of generic kernels. A static in a generic function would be one for all
//! of them, so a table has it, by type.

use super::Kernel;
use folio_kernel::code::{Built, Code};
use std::any::TypeId;
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Mutex, PoisonError};

/// A `TypeId` is a hash already.
#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

type Instances = HashMap<TypeId, &'static Built, BuildHasherDefault<Identity>>;

thread_local! {
    /// What this thread has launched. A map for all is asked only the first time.
    static KNOWN: RefCell<Instances> = const {
        RefCell::new(HashMap::with_hasher(BuildHasherDefault::new()))
    };
}

static ALL: Mutex<Instances> = Mutex::new(HashMap::with_hasher(BuildHasherDefault::new()));

/// The code of an instance of a generic kernel: made once in the program, and then kept.
pub fn code_of<K: Kernel>() -> &'static Built {
    code_by::<K>(|| Code::of(K::FUNCTION))
}

/// The code of a kernel, which `make` makes at the first call.
pub(super) fn code_by<K: Kernel>(make: impl FnOnce() -> Built) -> &'static Built {
    let id = TypeId::of::<K>();
    let known = KNOWN.try_with(|known| known.borrow().get(&id).copied());
    if let Ok(Some(code)) = known {
        return code;
    }
    let all = || ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let made = all().get(&id).copied();
    let code = made.unwrap_or_else(|| {
        // Without the lock: entries of its table may be the program's, and call kernels.
        let code = make();
        // One for each instance: as many as the program has, so leaking them is keeping them.
        *all().entry(id).or_insert_with(|| Box::leak(Box::new(code)))
    });
    // A thread that is ending keeps nothing.
    let _ = KNOWN.try_with(|known| known.borrow_mut().insert(id, code));
    code
}
