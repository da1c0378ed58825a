//! Words of launches in memory that the host and a CPU share.

use super::*;
use folio_core::hal::Op;

/// Writes its number to its first items.
const PUT: &str = "kernel \"put\" items 1 tile 1
param p0 = \"k\" scalar f32
param p1 = \"x\" view f32 1 out item
body {
    %0 f32 = arg p0
    %1 u64 = query position 0 0
    store p1[%1] = %0
}";

/// Launches of that kernel, by one lane.
struct Puts {
    bench: Bench,
    put: KernelHandle,
}

impl Puts {
    /// Where words are by value, and where there is no device, nothing of this is.
    fn open() -> Option<Puts> {
        let bench = Bench::with(OpenClBackend::new(), 64)?;
        let device = bench.device.downcast_ref::<OpenClDevice>().unwrap();
        if !device.0.has_addresses() {
            println!("skipped: opencl words: the device is no CPU, or shares no memory");
            return None;
        }
        let put = bench.device.load(&KernelSource::Ir(&parse(PUT).unwrap())).unwrap();
        Some(Puts { bench, put })
    }

    /// The number for the element there.
    fn put(&self, number: f32, at: usize) {
        let mut blob = [0; 8];
        blob[..4].copy_from_slice(&number.to_ne_bytes());
        let of = self.bench.param(1);
        let params = [Param { origin: [0, 0, at], ..of }];
        let args = Args { blob: &blob, proved: true, ..Args::new(&params) };
        let (kernel, geometry) = (KernelRef::Loaded(self.put), Geometry::new(1, [1; 3]));
        let head = self.bench.head(&[]);
        self.bench.lane.enqueue(&head, Op::Launch(kernel, &geometry, args)).unwrap();
    }

    fn values(&self) -> Vec<f32> {
        let mut values = vec![0.0; 64];
        self.bench.copy(&mut values, false);
        values
    }
}

/// Each launch has its own, however many are under way; their memory is given back meanwhile, and
/// in the end.
#[test]
fn words_of_launches_under_way_are_not_written() {
    let Some(puts) = Puts::open() else { return };
    let _one = ONE_COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    puts.put(0.0, 0);
    let _ = puts.values();
    let calls = calls_of(|| {
        let gate = puts.bench.gate();
        // All of these are under way.
        (0..2000).for_each(|k| puts.put(k as f32, k % 64));
        puts.bench.lane.flush();
        gate.open();
        let last = (0..64).map(|at| (0..2000).rev().find(|k| k % 64 == at).unwrap() as f32);
        assert_eq!(puts.values(), last.collect::<Vec<_>>());
        (0..2000).for_each(|k| puts.put(k as f32, 5));
        assert_eq!(puts.values()[5], 1999.0);
        assert!(puts.bench.failures().is_empty());
        drop(puts);
    });
    let of = |function| calls.get(function).copied().unwrap_or(0);
    // 512 launches share one allocation; a part of one is there already, and one is the values'
    // own.
    assert_eq!([of("clSVMAlloc"), of("clSVMFree")], [7, 9], "{calls:?}");
}

/// Words that a launch has in common with the one before it are neither written nor set again.
#[test]
fn words_that_stay_are_not_set_again() {
    let Some(puts) = Puts::open() else { return };
    let _one = ONE_COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let set = |numbers: &[f32]| {
        let calls = calls_of(|| {
            numbers.iter().for_each(|number| puts.put(*number, 0));
            puts.bench.enqueue();
        });
        assert!(!calls.contains_key("clSVMAlloc"), "{calls:?}");
        calls.get("clSetKernelArgSVMPointer").copied().unwrap_or(0)
    };
    puts.put(1.0, 0);
    puts.bench.enqueue();
    let undisturbed = (0..100).any(|_| {
        let gone = crate::cl::memory_gone();
        let counts = [set(&[2.0]), set(&[2.0, 2.0, 2.0]), set(&[3.0, 3.0, 2.0, 2.0])];
        assert_eq!(puts.values()[0], 2.0);
        // Memory of other tests may go meanwhile, in the same process.
        let still = crate::cl::memory_gone() == gone;
        assert!(!still || counts == [1, 0, 2], "{counts:?}");
        puts.put(1.0, 0);
        puts.bench.enqueue();
        still
    });
    assert!(undisturbed);
}

/// Memory that the driver does not have fails the launch that needs it, and no other.
#[test]
fn words_that_have_no_room() {
    let Some(puts) = Puts::open() else { return };
    let _one = ONE_COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    refuse_for("clSVMAlloc", 0..2, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    puts.put(1.0, 0);
    let refused = puts.bench.last.get();
    REFUSED.take();
    puts.put(2.0, 1);
    let values = puts.values();
    assert_ne!(values[0], 1.0);
    assert_eq!(values[1], 2.0);
    let failures = puts.bench.failures();
    assert!(matches!(failures[..], [(tick, _)] if tick == refused), "{failures:?}");
}

/// Timestamps begin with the first command that is to have them, behind all that came before; and
/// stay.
#[test]
fn timestamps_begin_when_they_are_asked_for() {
    let Some(bench) = Bench::open(256) else { return };
    bench.copy(&mut [1.0; 256], true);
    bench.launch(256, true);
    let gate = bench.gate();
    let (params, geometry) = ([bench.param(256)], Geometry::new(1, [1, 1, 256]));
    let launch = |timed| {
        let args = Args { proved: true, ..Args::new(&params) };
        let (head, kernel) = (bench.head(&[]), KernelRef::Loaded(bench.twice));
        bench.lane.enqueue(&Head { timed, ..head }, Op::Launch(kernel, &geometry, args)).unwrap();
    };
    // Where the driver refuses the other queue, or what it waits for, that command fails, and the
    // next one tries again.
    let steps = ["clCreateCommandQueue", "clFlush", "clEnqueueBarrierWithWaitList"];
    for function in steps {
        refuse(function, 0);
        launch(true);
        was_refused();
    }
    let refused = bench.last.get();
    let calls = calls_of(|| [false, true, false, true].into_iter().for_each(launch));
    assert_eq!(calls.get("clCreateCommandQueue"), Some(&1), "{calls:?}");
    let last = bench.last.get();
    bench.lane.flush();
    assert_eq!(bench.lane.completed().map(|done| done < last - 3), Ok(true));
    assert!(bench.lane.timing(last).is_none());
    gate.open();
    bench.holds(5);
    let of = |tick| bench.lane.timing(tick).map(|times| [times.started, times.ended]);
    let times = [last - 3, last - 2, last - 1, last].map(of);
    let [None, Some(first), None, Some(second)] = times else { panic!("{times:?}") };
    assert!(first[0] <= first[1] && first[1] <= second[0] && second[0] <= second[1], "{times:?}");
    let failed: Vec<_> = bench.failures().iter().map(|(tick, _)| *tick).collect();
    assert_eq!(failed, [refused - 2, refused - 1, refused]);
}
