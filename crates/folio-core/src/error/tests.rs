//! What the errors say.

use super::*;
use folio_kernel::checks::CheckKind;
use folio_kernel::{Site, ViolationKind};

/// All variants; a new one does not compile until it is here.
fn all() -> Vec<(Error, &'static str)> {
    let (x, k) = (Label::from("x"), Label::from("k"));
    let used = |parameter| UseSite { command: k.clone(), access: Some(1), parameter };
    let failed = |cause| {
        let (label, device) = (k.clone(), "sim:0".to_owned());
        Error::Failed(Arc::new(Failure::new(1, "kernel", label, device, cause)))
    };
    let hal = |kind| HalError::new(kind, "code 700");
    let full = HalError::out_of_memory(8, 1, 2);
    let left = |n| {
        let one = PendingWork { what: "kernel", label: k.clone(), device: "sim:0".to_owned() };
        vec![one; n]
    };
    vec![
        (
            Error::OutOfRange {
                buffer: x.clone(),
                offset: vec![3],
                extent: vec![2],
                range: vec![4],
            },
            "buffer `x`: offset [3] + extent [2] is outside [4]",
        ),
        (
            Error::OutOfRange {
                buffer: x.clone(),
                offset: vec![100],
                extent: vec![1],
                range: vec![100],
            },
            "buffer `x`: position [100] is outside [100]",
        ),
        (
            Error::TooLarge { what: "buffer", label: x.clone(), extent: vec![9], element_bytes: 4 },
            "buffer `x`: [9] elements of 4 bytes are too large",
        ),
        (
            Error::TooLarge { what: "buffer", label: x.clone(), extent: vec![9], element_bytes: 1 },
            "buffer `x`: [9] elements of 1 byte are too large",
        ),
        (
            Error::Aliasing {
                command: k.clone(),
                buffer: x.clone(),
                accesses: [0, 2],
                parameters: [Label::NONE; 2],
            },
            "command `k`: access 0 and access 2 overlap in buffer `x`, and one of them is written: pass \
             parts that do not overlap, or a buffer for each",
        ),
        (
            Error::Aliasing {
                command: k.clone(),
                buffer: Label::NONE,
                accesses: [0, 2],
                parameters: [Label::from("a"), Label::from("b")],
            },
            "command `k`: parameter `a` and parameter `b` overlap in one buffer, and one of them is written: \
             pass parts that do not overlap, or a buffer for each",
        ),
        (
            Error::WrongRuntime { what: "event", label: Label::NONE, by: None },
            "event without a name belongs to another runtime",
        ),
        (
            Error::ForeignAccess { command: k.clone() },
            "command `k`: an access that was made for another command group",
        ),
        (
            Error::Actions { command: k.clone(), actions: 2 },
            "command `k` has 2 actions, and may have one: submit a command for each",
        ),
        (
            Error::DeviceNotFound { wanted: "`cuda`".to_owned(), there: "cpu:0".to_owned() },
            "no device fits `cuda`; there are: cpu:0",
        ),
        (
            Error::OutOfMemory {
                device: "sim:0".to_owned(),
                what: "buffer",
                label: x.clone(),
                asked: 3,
                in_use: 4,
                limit: 5,
            },
            "out of memory on sim:0 for buffer `x`: asked for 3 bytes, 4 bytes of 5 bytes in use",
        ),
        (
            Error::HostAccessHeld { buffer: x.clone(), by: Some(used(Label::NONE)) },
            "command `k`, access 1: buffer `x` is held by a guard (of `read`, `write` or the like) or a loan: \
             drop that first",
        ),
        (
            Error::HostAccessHeld { buffer: Label::NONE, by: Some(used(Label::from("y"))) },
            "command `k`, parameter `y`: its buffer is held by a guard (of `read`, `write` or the like) or a loan: \
             drop that first",
        ),
        (
            Error::InUse { buffer: x.clone() },
            "buffer `x` is in use: drop, or `close`, what has it (handles, guards, executables) and wait for its commands",
        ),
        (
            Error::HasMemory { buffer: x.clone(), device: "sim:0".to_owned() },
            "buffer `x` has memory on sim:0 already: give that back (`release`), or take it \
             (`take_allocation`), before you give it other memory",
        ),
        (
            Error::OnlyCopy { buffer: x.clone() },
            "buffer `x`: that allocation holds the only current copy of some pages",
        ),
        (
            Error::WaitsForItself { task: k.clone(), through: Arc::new([]) },
            "host task `k` would wait for its own completion",
        ),
        (
            Error::WaitsForItself { task: k.clone(), through: Arc::new([x.clone()]) },
            "host task `k` would wait for its own completion, by way of host task `x`, which waits",
        ),
        (Error::WaitInKernel, "a kernel cannot wait for commands or for a buffer's data"),
        (
            Error::NotContiguous { buffer: x.clone(), extent: vec![2, 2] },
            "a part of [2, 2] of buffer `x` is not contiguous in memory: take it by rows (`read_rows()`, \
             `write_rows()`), or copy it (`to_vec()`)",
        ),
        (
            Error::HostAccessHeld { buffer: Label::NONE, by: None },
            "a buffer without a name (`BufferOptions::label` gives one) is held by a guard (of `read`, \
             `write` or the like) or a loan: drop that first",
        ),
        (
            Error::NoElement {
                command: k.clone(),
                access: 1,
                parameter: x.clone(),
                buffer: x.clone(),
            },
            "command `k`: parameter `x` has one value for the whole launch, in its first element: it needs \
             at least one element, and has none",
        ),
        (
            Error::Reinterpret { buffer: x.clone(), why: "12 bytes there".to_owned() },
            "buffer `x` cannot be reinterpreted: 12 bytes there",
        ),
        (
            Error::LaunchTooLarge {
                command: k.clone(),
                launch: vec![5],
                offset: vec![2],
                access: 1,
                parameter: Label::NONE,
                buffer: x.clone(),
                extent: vec![4].into(),
            },
            "command `k`: a launch over [5] from [2] on reaches beyond access 1 to buffer `x`, \
             which covers [4]",
        ),
        (
            Error::LaunchTooLarge {
                command: k.clone(),
                launch: vec![5],
                offset: vec![2],
                access: 1,
                parameter: x.clone(),
                buffer: x.clone(),
                extent: vec![4].into(),
            },
            "command `k`: a launch over [5] from [2] on reaches beyond parameter `x`, which covers [4]",
        ),
        (
            Error::Mismatch {
                what: "command",
                label: k.clone(),
                source_extent: vec![2],
                target: vec![3],
                needed: None,
            },
            "command `k`: extents do not match: from [2] to [3]",
        ),
        (
            Error::Mismatch {
                what: "command",
                label: k.clone(),
                source_extent: vec![4, 5],
                target: vec![4, 5],
                needed: Some(vec![5, 4]),
            },
            "command `k`: the source is [4, 5], so the target must be [5, 4]; it is [4, 5]",
        ),
        (
            Error::NotAccessible {
                label: x.clone(),
                home: "sim:0".to_owned(),
                device: "sim:1".to_owned(),
            },
            "USM allocation `x` on sim:0 cannot be accessed by a kernel on sim:1",
        ),
        (
            Error::Inaccessible {
                pointer: x.clone(),
                wanted: "the host".to_owned(),
                place: "on its way to sim:0".to_owned(),
            },
            "managed pointer `x` is not accessible on the host: it is on its way to sim:0",
        ),
        (
            Error::MoveInTask { pointer: x.clone() },
            "a task cannot move managed pointer `x`: chain the move to the task's future",
        ),
        (
            Error::Stream {
                pointer: x.clone(),
                bytes: 64,
                cause: Arc::new(std::io::Error::other("no\nline")),
            },
            "stream of managed pointer `x`, after 64 bytes: no\\nline",
        ),
        (
            Error::LaunchRange {
                command: k.clone(),
                launch: vec![2],
                offset: vec![9],
                why: "positions do not fit",
            },
            "command `k`: a launch over [2] from [9] on: positions do not fit",
        ),
        (
            Error::LaunchRange {
                command: k.clone(),
                launch: vec![2, 3],
                offset: vec![0, 0],
                why: "so many",
            },
            "command `k`: a launch over [2, 3]: so many",
        ),
        (
            Error::Freed { what: "view", label: x.clone() },
            "view `x`: its storage has been taken already",
        ),
        (
            Error::Freed { what: "command", label: k.clone() },
            "command `k`: the memory of a raw pointer has been freed",
        ),
        (
            Error::Misaligned { what: "command", label: k.clone(), at: 0x102, align: 4 },
            "command `k`: 0x102 is no place for elements aligned to 4",
        ),
        (
            Error::Allocator {
                what: "buffer",
                label: x.clone(),
                asked: 4096,
                align: 128,
                fault: AllocatorFault::Panicked("no\npage".into()),
            },
            "the program's allocator, for buffer `x`: asked for 4096 bytes aligned to 128, it panicked: \
             no\\npage",
        ),
        (
            Error::ScopeEnded { label: x.clone() },
            "the scope of view `x` has ended, and its data are the program's again: use the view within the scope, or \
             make a buffer that owns its data, `rt.buffer_from(&data)?`",
        ),
        (
            Error::Unsupported { device: "sim:0".to_owned(), what: "closures".to_owned() },
            "sim:0 does not support closures",
        ),
        (
            Error::Environment {
                variable: "FOLIO_X".to_owned(),
                value: "-".to_owned(),
                allowed: "a number".to_owned(),
            },
            "environment variable FOLIO_X=\"-\": a number",
        ),
        (
            Error::Configuration { what: "page", why: "0 is no size".to_owned() },
            "page: 0 is no size",
        ),
        (Error::ShutDown, "the runtime has been shut down"),
        (
            Error::Deadline { unfinished: 1, left: left(1) },
            "1 operation was not finished in time: kernel `k` on sim:0",
        ),
        (
            Error::Deadline { unfinished: 3, left: left(2) },
            "3 operations were not finished in time: kernel `k` on sim:0, kernel `k` on sim:0, ..",
        ),
        (
            Error::Device {
                device: "sim:0".to_owned(),
                doing: "open".to_owned(),
                cause: hal(HalErrorKind::Driver),
            },
            "sim:0: open: driver error: code 700",
        ),
        (
            failed(Cause::from(hal(HalErrorKind::Lost))),
            "kernel `k` on sim:0 failed: device lost: code 700",
        ),
        (
            failed(Cause::from(full)),
            "kernel `k` on sim:0 failed: out of memory: asked for 8 bytes, 1 byte of 2 bytes in use",
        ),
        (
            failed(Cause::Panic(PanicPayload::new(Box::new("at 3")))),
            "kernel `k` on sim:0 failed: panicked: at 3",
        ),
        (
            failed(Cause::Panic(PanicPayload::new(Box::new(42u64)))),
            "kernel `k` on sim:0 failed: panicked: the payload is the `u64` 42",
        ),
        (
            failed(Cause::Panic(PanicPayload::new(Box::new(Box::<
                dyn std::error::Error + Send + Sync,
            >::from("no file"))))),
            "kernel `k` on sim:0 failed: panicked: no file",
        ),
        (
            failed(Cause::Panic(PanicPayload::new(Box::new(())))),
            "kernel `k` on sim:0 failed: panicked: the payload is neither text, number nor error",
        ),
        (
            failed(Cause::Task(Arc::from(Box::from("no file")))),
            "kernel `k` on sim:0 failed: no file",
        ),
        (
            failed(Cause::from(HalError::violation(Box::new(Violation {
                kernel: "saxpy".to_owned(),
                kind: ViolationKind::OutOfBounds {
                    param: Some("x".to_owned()),
                    index: vec![7, -1],
                    extent: vec![9, 4],
                },
                site: Site { file: "a.rs".to_owned(), line: 3, column: 5, message: None },
            })))),
            "kernel `k` on sim:0 failed: kernel `saxpy`, a.rs:3:5: index [7, -1] is outside of `x`, which has \
             extent [9, 4]",
        ),
        (
            // The command has the kernel's name, which is said once.
            failed(Cause::Kernel(Arc::new(Violation {
                kernel: "k".to_owned(),
                kind: ViolationKind::DivisionByZero,
                site: Site { file: "a.rs".to_owned(), line: 3, column: 5, message: None },
            }))),
            "kernel `k` on sim:0 failed: a.rs:3:5: an integer is divided by zero",
        ),
        (
            Error::Kernel {
                kernel: Arc::from("k"),
                cause: Arc::new(LowerError::Recursion("f", vec!["g"])),
            },
            "kernel `k`: device function `f` calls itself by way of `g`; recursion is not possible on devices: write a loop",
        ),
        (
            Error::ChecksLeft {
                kernel: Arc::from("k"),
                checks: Arc::from([
                    check(CheckKind::Index {
                        param: Some("x".to_owned()),
                        index: vec![(0, 10), (3, i64::MAX.into()), (2, 2)],
                        extent: vec![10, 5, 3],
                    }),
                    check(CheckKind::Division),
                ]),
            },
            "kernel `k` denies checks, and this launch has a.rs:3:5: an index of `x`, 0 to 10 and any number \
             and 2, may be outside of its extent [10, 5, 3]; a.rs:3:5: a divisor is no constant, and may \
             be zero",
        ),
        (
            Error::GroupSize {
                kernel: Arc::from("k"),
                launch: vec![10],
                group: vec![4],
                why: "the size does not divide the number of items",
            },
            "kernel `k` over [10] in groups of [4]: the size does not divide the number of items",
        ),
        (
            Error::GroupSize {
                kernel: Arc::from("k"),
                launch: vec![10],
                group: vec![],
                why: "say how large",
            },
            "kernel `k` over [10]: say how large",
        ),
        (
            Error::NotSpread {
                kernel: Arc::from("k"),
                parameter: Label::from("sums"),
                why: Arc::from("floats are added in any order"),
            },
            "kernel `k` cannot be spread over devices: `sums`: floats are added in any order",
        ),
        (
            Error::NotSpread {
                kernel: Arc::from("k"),
                parameter: Label::NONE,
                why: Arc::from("it asks for its launch's range"),
            },
            "kernel `k` cannot be spread over devices: it asks for its launch's range",
        ),
        (
            Error::Graph {
                graph: Label::from("step"),
                why: Box::new(GraphError::Cycle {
                    from: 3,
                    to: 1,
                    names: [Label::from("a"), Label::from("copy")],
                }),
            },
            "graph `step`: an edge from node 3 `a` to node 1 `copy` closes a cycle",
        ),
        (
            Error::Graph {
                graph: Label::of(&"batch"),
                why: Box::new(GraphError::NotRunYet {
                    buffer: x.clone(),
                    doing: "read",
                    command: Label::of(&"fill"),
                    uses: "write",
                    instead: "do it after the block",
                }),
            },
            "graph `batch`: buffer `x` cannot be read here: `fill` is to write it, and has only been recorded; do it after \
             the block",
        ),
        (
            failed(Cause::Graph(Arc::new(GraphError::LimitReached {
                command: k.clone(),
                buffer: x.clone(),
                limit: 3,
            }))),
            "kernel `k` on sim:0 failed: `while` node `k` would go on after 3 iterations, the `limit` of its `while_`: \
             its value, in buffer `x`, is not 0",
        ),
        (
            Error::Failed(Arc::new(Failure::forgotten())),
            "a command failed: too long ago to know more: many others have failed since",
        ),
        (
            failed(Cause::DataLost),
            "kernel `k` on sim:0 failed: the only current copy was on a lost device",
        ),
    ]
}

fn check(kind: CheckKind) -> Check {
    Check::new(kind, Site { file: "a.rs".to_owned(), line: 3, column: 5, message: None })
}

/// Numbers the variants; without a wildcard, so that none is forgotten.
fn number(error: &Error) -> usize {
    match error {
        Error::OutOfRange { .. } => 0,
        Error::TooLarge { .. } => 1,
        Error::Aliasing { .. } => 2,
        Error::WrongRuntime { .. } => 3,
        Error::ForeignAccess { .. } => 4,
        Error::Actions { .. } => 5,
        Error::DeviceNotFound { .. } => 6,
        Error::OutOfMemory { .. } => 7,
        Error::HostAccessHeld { .. } => 8,
        Error::InUse { .. } => 9,
        Error::OnlyCopy { .. } => 10,
        Error::WaitsForItself { .. } => 11,
        Error::WaitInKernel => 12,
        Error::NotContiguous { .. } => 13,
        Error::Reinterpret { .. } => 14,
        Error::LaunchTooLarge { .. } => 15,
        Error::Mismatch { .. } => 16,
        Error::NotAccessible { .. } => 17,
        Error::ScopeEnded { .. } => 18,
        Error::Unsupported { .. } => 19,
        Error::Environment { .. } => 20,
        Error::Configuration { .. } => 21,
        Error::ShutDown => 22,
        Error::Deadline { .. } => 23,
        Error::Device { .. } => 24,
        Error::Failed(failure) => match failure.cause {
            Cause::Backend(_) => 25,
            Cause::Panic(_) => 26,
            Cause::Task(_) => 27,
            Cause::DataLost => 28,
            Cause::Kernel(_) => 31,
            Cause::Graph(_) => 39,
            Cause::Forgotten => 43,
        },
        Error::Freed { .. } => 29,
        Error::Misaligned { .. } => 30,
        Error::Kernel { .. } => 32,
        Error::GroupSize { .. } => 33,
        Error::Inaccessible { .. } => 34,
        Error::MoveInTask { .. } => 35,
        Error::Stream { .. } => 36,
        Error::NoElement { .. } => 37,
        Error::Graph { .. } => 38,
        Error::ChecksLeft { .. } => 39,
        Error::Allocator { .. } => 40,
        Error::HasMemory { .. } => 41,
        Error::LaunchRange { .. } => 42,
        Error::NotSpread { .. } => 44,
    }
}

/// ERR-01: one message is one line, whatever things are called.
#[test]
fn names_do_not_act_on_messages() {
    let name = "x\n\u{1b}[2Jfolio: all is well";
    let (shown, label) = (r"x\n\u{1b}[2Jfolio: all is well", Label::from(name));
    assert_eq!(
        (label.as_str(), format!("{label}"), format!("{label:?}")),
        (name, format!("`{shown}`"), format!("`{shown}`"),)
    );
    let error = Error::GroupSize { kernel: name.into(), launch: vec![1], group: vec![], why: "-" };
    assert_eq!(error.to_string(), format!("kernel `{shown}` over [1]: -"));
    assert_eq!(crate::Selector::from(name).to_string(), format!("`{shown}`"));
    let rt = crate::Runtime::builder().build().unwrap();
    let buffer = rt.buffer_with::<u32, 1>([4], crate::BufferOptions::new().label(name)).unwrap();
    assert_eq!(buffer.label(), name);
    for text in [
        format!("{buffer:?}"),
        rt.device(name).unwrap_err().to_string(),
        buffer.slice([5], [1]).err().unwrap().to_string(),
        format!("{:?}", buffer.slice([5], [1]).err().unwrap()),
        PendingWork { what: "copy", label, device: "-".into() }.to_string(),
    ] {
        assert!(text.contains(shown) && !text.contains(char::is_control), "{text:?}");
    }
}

/// ERR-01: what, where and why, in words.
#[test]
fn messages_say_what_where_and_why() {
    let mut seen = [false; 45];
    for (error, text) in all() {
        assert_eq!(error.to_string(), text);
        // As `main` shows it.
        assert_eq!(format!("{error:?}"), text);
        seen[number(&error)] = true;
    }
    assert_eq!(seen, [true; 45], "a variant without a message here");
}

/// ERR-01: by `{:#?}` an error shows its fields, and a failure its cause.
#[test]
fn alternate_debug_shows_fields() {
    for (error, _) in all() {
        let fields = format!("{error:#?}");
        let first = fields.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        assert!(first.chars().next().is_some_and(char::is_uppercase), "{fields}");
        assert_ne!(fields, error.to_string());
    }
    let (buffer, by) = (Label::from("x"), None);
    let held = format!("{:#?}", Error::HostAccessHeld { buffer, by });
    assert_eq!(held, "HostAccessHeld {\n    buffer: `x`,\n    by: None,\n}");
    let failure = Failure::new(7, "kernel", Label::NONE, "sim:0".to_owned(), Cause::DataLost);
    let shown = format!("{:#?}", Error::Failed(Arc::new(failure)));
    let failed = ["Failed(", "Failure {", "id: 7", "device: \"sim:0\"", "cause: DataLost"];
    assert!(failed.iter().all(|part| shown.contains(part)), "{shown}");
}

/// ERR-01: they can be kept, sent, and boxed.
#[test]
fn errors_travel() {
    fn travels<E: std::error::Error + Clone + Send + Sync + 'static>() {}
    travels::<Error>();
    let boxed: Box<dyn std::error::Error + Send + Sync> = Box::new(Error::ShutDown);
    assert!(boxed.downcast_ref::<Error>().is_some_and(|e| matches!(e, Error::ShutDown)));
}
