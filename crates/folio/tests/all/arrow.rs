//! Arrow's C data interface: columns out and in, and descriptions that lie. POL-08
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use folio::arrow::*;
use folio::cpu::CpuBackend;
use folio::*;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

fn cpu() -> Runtime {
    let cpu = CpuBackend::builder().threads(2).build().unwrap();
    Runtime::builder().backend(cpu).build().unwrap()
}

/// A producer's column, and how often its structs have been released.
struct Theirs {
    buffers: [*const c_void; 2],
    released: Arc<AtomicUsize>,
    _values: Vec<i32>,
    _bits: Vec<u8>,
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: `theirs` has made it, and this is called once.
    unsafe {
        (*schema).release = None;
        let count = Arc::from_raw((*schema).private_data.cast::<AtomicUsize>().cast_const());
        count.fetch_add(1, SeqCst);
    }
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: as above.
    unsafe {
        (*array).release = None;
        let theirs = Box::from_raw((*array).private_data.cast::<Theirs>());
        theirs.released.fetch_add(1, SeqCst);
    }
}

fn theirs(
    values: Vec<i32>,
    bits: Option<Vec<u8>>,
    offset: i64,
    change: impl FnOnce(&mut ArrowSchema, &mut ArrowArray),
) -> (Column, Arc<AtomicUsize>) {
    let released = Arc::new(AtomicUsize::new(0));
    let length = values.len() as i64 - offset;
    let at = bits.as_ref().map_or(std::ptr::null(), |bits| bits.as_ptr().cast());
    let buffers = [at, values.as_ptr().cast()];
    let null_count = if bits.is_some() { -1 } else { 0 };
    let (count, bits) = (released.clone(), bits.unwrap_or_default());
    let theirs = Theirs { buffers, released: released.clone(), _values: values, _bits: bits };
    let theirs = Box::into_raw(Box::new(theirs));
    let mut schema = ArrowSchema {
        format: c"i".as_ptr(),
        name: c"numbers".as_ptr(),
        metadata: std::ptr::null(),
        flags: ArrowSchema::NULLABLE,
        n_children: 0,
        children: std::ptr::null_mut(),
        dictionary: std::ptr::null_mut(),
        release: Some(release_schema),
        private_data: Arc::into_raw(count).cast_mut().cast(),
    };
    let mut array = ArrowArray {
        length,
        null_count,
        offset,
        n_buffers: 2,
        n_children: 0,
        // SAFETY: the box from above.
        buffers: unsafe { &raw mut (*theirs).buffers }.cast(),
        children: std::ptr::null_mut(),
        dictionary: std::ptr::null_mut(),
        release: Some(release_array),
        private_data: theirs.cast(),
    };
    change(&mut schema, &mut array);
    // SAFETY: a column of the test's, whose pointers are true.
    let column = unsafe { Column::from_raw(&raw mut schema, &raw mut array) }.unwrap();
    assert!(schema.release.is_none() && array.release.is_none(), "moved");
    (column, released)
}

#[test]
fn a_column_is_two_buffers_in_its_memory_and_is_released_once() {
    let rt = cpu();
    let q = rt.queue().unwrap();
    let values: Vec<i32> = (0..20).collect();
    let (column, released) = theirs(values, Some(vec![0xf0, 0x0f, 0xaa]), 11, |_, _| ());
    let Imported { values, validity, null_count } = column.import::<i32>(&rt).unwrap();
    let Validity { bits, offset } = validity.unwrap();
    assert_eq!(values.to_vec().unwrap(), (11..20).collect::<Vec<_>>());
    // Bit 11 is the fourth of the second byte.
    assert_eq!((bits.to_vec().unwrap(), offset, null_count), (vec![0x0f, 0xaa], 3, None));
    assert_eq!(values.counters().allocations, 0);
    let mut y = rt.buffer::<i32, 1>(9).unwrap();
    q.copy(&*values, &mut y).unwrap();
    assert_eq!(y.get(8).unwrap(), 19);
    drop(values);
    rt.wait().unwrap();
    assert_eq!(released.load(SeqCst), 0, "the bits keep it");
    drop(bits);
    rt.wait().unwrap();
    assert_eq!(released.load(SeqCst), 2, "array and type");

    let (column, _) = theirs(vec![7; 3], None, 0, |_, _| ());
    let imported = column.import::<i32>(&rt).unwrap();
    assert!(imported.validity.is_none());
    assert_eq!((imported.values.to_vec().unwrap(), imported.null_count), (vec![7; 3], Some(0)));
    let (column, _) = theirs(vec![], None, 0, |_, _| ());
    assert_eq!(column.import::<i32>(&rt).unwrap().values.to_vec().unwrap(), []);
}

#[test]
fn an_exported_column_holds_its_buffers_until_it_is_released() {
    let rt = cpu();
    let q = rt.queue().unwrap();
    let mut x = rt.buffer_from(&[1u16, 2, 3, 4, 5, 6, 7, 8, 9]).unwrap();
    let mut bits = rt.buffer_from(&[0xffu8, 1]).unwrap();
    assert!(matches!(
        Column::export_nullable(&x, bits.slice([0], [1]).unwrap()),
        Err(Error::Mismatch { .. })
    ));
    let column = Column::export_nullable(x.slice([1], [8]).unwrap(), &bits).unwrap();
    let held = |result: Result<Event>| matches!(result, Err(Error::HostAccessHeld { .. }));
    assert!(held(q.fill(&mut x, 0)) && held(q.fill(&mut bits, 0)));
    let (mut schema, mut array) = column.into_raw();
    // SAFETY: what a consumer does: it reads the structs, and releases each once.
    unsafe {
        assert_eq!(std::ffi::CStr::from_ptr(schema.format), c"S");
        assert_eq!((array.length, array.null_count, array.n_buffers), (8, -1, 2));
        let [of_bits, values] = *array.buffers.cast::<[*const c_void; 2]>();
        assert_eq!(std::slice::from_raw_parts(values.cast::<u16>(), 8), [2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(*of_bits.cast::<u8>(), 0xff);
        array.release.unwrap()(&raw mut array);
        schema.release.unwrap()(&raw mut schema);
    }
    assert!(array.release.is_none() && schema.release.is_none());
    q.fill(&mut x, 0).unwrap();
    q.fill(&mut bits, 0).unwrap();
    drop(Column::export(&x).unwrap());
    q.fill(&mut x, 1).unwrap();
}

#[test]
fn each_refusal_names_the_fault_and_returns_the_column() {
    let rt = cpu();
    let refused = |change: fn(&mut ArrowSchema, &mut ArrowArray)| {
        let (column, released) = theirs(vec![1, 2, 3], None, 0, change);
        let refused = column.import::<i32>(&rt).err().unwrap();
        assert_eq!(released.load(SeqCst), 0);
        drop(refused.column.unwrap());
        assert_eq!(released.load(SeqCst), 2);
        refused.refusal.unwrap()
    };
    let why = refused(|schema, _| schema.format = c"g".as_ptr());
    assert_eq!(why, Refusal::Type { found: "g".to_owned(), expected: "i" });
    let why = refused(|schema, _| schema.format = std::ptr::null());
    assert_eq!(why, Refusal::Null { what: "format" });
    let why = refused(|_, array| array.n_buffers = 3);
    assert_eq!(why, Refusal::Structure { buffers: 3, children: 0, has_dictionary: false });
    let why = refused(|schema, _| schema.n_children = 1);
    assert_eq!(why, Refusal::Structure { buffers: 2, children: 1, has_dictionary: false });
    let why = refused(|_, array| array.buffers = std::ptr::null_mut());
    assert_eq!(why, Refusal::Null { what: "array of buffers" });
    // SAFETY: the test's own pointers.
    let why = refused(|_, array| unsafe { *array.buffers.add(1) = std::ptr::null() });
    assert_eq!(why, Refusal::Null { what: "buffer of values" });
    let why = refused(|_, array| array.null_count = 1);
    assert_eq!(why, Refusal::Null { what: "buffer of bits" });
    // SAFETY: as above.
    let why =
        refused(|_, array| unsafe { *array.buffers.add(1) = (*array.buffers.add(1)).byte_add(2) });
    assert!(matches!(why, Refusal::Alignment { align: 4, .. }));
    for numbers in
        [[-1, 0, 0], [3, -1, 0], [3, 0, 4], [3, 0, -2], [i64::MAX, 0, 0], [1, i64::MAX, 0]]
    {
        let [length, offset, null_count] = numbers;
        let (column, _) = theirs(vec![1], None, 0, |_, array| {
            (array.length, array.offset, array.null_count) = (length, offset, null_count);
        });
        let refused = column.import::<i32>(&rt).err().unwrap();
        assert_eq!(refused.refusal, Some(Refusal::Range { length, offset, null_count }));
    }
    let (mut schema, mut array) = theirs(vec![1], None, 0, |_, _| ()).0.into_raw();
    // SAFETY: the structs of a column; the second time they have been moved out of.
    unsafe {
        drop(Column::from_raw(&raw mut schema, &raw mut array).unwrap());
        let again = Column::from_raw(&raw mut schema, &raw mut array);
        assert_eq!(again.err(), Some(Refusal::Released));
        let none = Column::from_raw(std::ptr::null_mut(), &raw mut array);
        assert_eq!(none.err(), Some(Refusal::Null { what: "struct" }));
    }
}
