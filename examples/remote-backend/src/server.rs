//! The device: a process with memory of its own, which does what it is asked, one after another.
//! It interprets kernels, so it is slow; a real one would have a compiler here.

use crate::wire::{Message, numbers, receive, rows, send, words};
use folio_core::geom::Dims;
use folio_core::hal::{Geometry, HalError, HalErrorKind, ParamPtr};
use folio_interp::interp::Interpreter;
use folio_kernel::{Violation, ViolationKind, parse::parse};
use folio_sim::{IrKernel, IrRunner};
use std::collections::HashMap;
use std::io::{self, BufReader, BufWriter};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

#[derive(Default)]
struct Device {
    memory: HashMap<u64, Vec<u8>>,
    kernels: HashMap<u64, Arc<dyn IrKernel>>,
}

/// Serves requests until the other end is closed.
pub fn serve(stream: UnixStream) -> io::Result<()> {
    let (mut from, mut to) = (BufReader::new(stream.try_clone()?), BufWriter::new(stream));
    let mut device = Device::default();
    loop {
        let request = match receive(&mut from) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            request => request?,
        };
        match device.answer(&request) {
            Ok(bytes) => send(&mut to, &[b"done", &bytes])?,
            Err(error) => {
                let fields = failure(&error);
                send(&mut to, &fields.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
            }
        }
    }
}

fn failure(error: &HalError) -> Message {
    let as_text = || vec![b"error".into(), error.message.as_bytes().into()];
    let HalErrorKind::Violation(what) = &error.kind else { return as_text() };
    let (kind, name, index, extent) = match &what.kind {
        ViolationKind::OutOfBounds { param, index, extent } => {
            let index = words(index.iter().map(|n| n.cast_unsigned()));
            let extent = words(extent.iter().map(|n| *n as u64));
            (u64::from(param.is_some()), param.as_deref().unwrap_or(""), index, extent)
        }
        ViolationKind::DivisionByZero => (2, "", vec![], vec![]),
        ViolationKind::Assertion => (3, "", vec![], vec![]),
        ViolationKind::WrittenTwice { param, index, items } => {
            let index = words(index.iter().map(|n| *n as u64));
            (4, param.as_str(), index, words(items.map(|n| n as u64)))
        }
        // Folio may get more kinds.
        _ => return as_text(),
    };
    let site = &what.site;
    let message = site.message.as_deref();
    let place = [kind, site.line.into(), site.column.into(), u64::from(message.is_some())];
    let texts = [what.kernel.as_str(), &site.file, message.unwrap_or(""), name];
    let mut fields = vec![b"violation".to_vec(), words(place), index, extent];
    fields.extend(texts.map(|text| text.as_bytes().to_vec()));
    fields
}

/// What the other end makes of a reply.
pub fn result(reply: Message) -> Result<Vec<u8>, HalError> {
    let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
    match reply.as_slice() {
        [how, bytes] if how == b"done" => Ok(bytes.clone()),
        [how, place, index, extent, kernel, file, message, name] if how == b"violation" => {
            let place = numbers(place);
            let kind = match place[0] {
                2 => ViolationKind::DivisionByZero,
                3 => ViolationKind::Assertion,
                4 => {
                    let places = |of: &[u8]| numbers(of).into_iter().map(|n| n as usize).collect();
                    let (index, items): (_, Vec<usize>) = (places(index), places(extent));
                    let items = [0, 1].map(|nth| items.get(nth).copied().unwrap_or(0));
                    ViolationKind::written_twice(text(name), index, items)
                }
                named => ViolationKind::OutOfBounds {
                    param: (named == 1).then(|| text(name)),
                    index: numbers(index).into_iter().map(u64::cast_signed).collect(),
                    extent: numbers(extent).into_iter().map(|n| n as usize).collect(),
                },
            };
            let site = folio_kernel::Site {
                file: text(file),
                line: place[1] as u32,
                column: place[2] as u32,
                message: (place[3] == 1).then(|| text(message)),
            };
            Err(HalError::violation(Box::new(Violation { kernel: text(kernel), kind, site })))
        }
        [_, message] => Err(HalError::new(HalErrorKind::Driver, text(message))),
        _ => Err(HalError::new(HalErrorKind::Driver, "a reply that is none")),
    }
}

fn wrong(what: &str) -> HalError {
    HalError::new(HalErrorKind::Driver, format!("the device was asked for {what}"))
}

impl Device {
    fn answer(&mut self, request: &[Vec<u8>]) -> Result<Vec<u8>, HalError> {
        let Some((what, fields)) = request.split_first() else { return Err(wrong("nothing")) };
        let [first, rest @ ..] = fields else { return Err(wrong("too little")) };
        let n = numbers(first);
        match (what.as_slice(), n.as_slice(), rest) {
            (b"allocate", &[handle, size], []) => {
                self.memory.insert(handle, vec![0; size as usize]);
            }
            (b"free", &[handle], []) => drop(self.memory.remove(&handle)),
            (b"write", &[handle, at, slice, row, a, b, c], [bytes]) => {
                let to = self.at(handle, at)?;
                let parts = bytes.chunks_exact(c as usize);
                for (row, part) in rows([slice, row], [a, b, c]).zip(parts) {
                    to.get_mut(row..row + c as usize)
                        .ok_or_else(|| wrong("a row outside"))?
                        .copy_from_slice(part);
                }
            }
            (b"read", &[handle, at, slice, row, a, b, c], []) => {
                let from = self.at(handle, at)?;
                let mut bytes = Vec::with_capacity((a * b * c) as usize);
                for row in rows([slice, row], [a, b, c]) {
                    bytes.extend_from_slice(
                        from.get(row..row + c as usize).ok_or_else(|| wrong("a row outside"))?,
                    );
                }
                return Ok(bytes);
            }
            (b"load", &[handle], [text]) => {
                let text = String::from_utf8_lossy(text);
                let kernel = parse(&text).map_err(|error| wrong(&format!("{error}: {text}")))?;
                self.kernels.insert(handle, Interpreter.load(&kernel)?);
            }
            (b"unload", &[handle], []) => drop(self.kernels.remove(&handle)),
            (b"launch", _, [blob, params @ ..]) => self.launch(&n, blob, params)?,
            _ => return Err(wrong(&String::from_utf8_lossy(what))),
        }
        Ok(Vec::new())
    }

    fn at(&mut self, handle: u64, offset: u64) -> Result<&mut [u8], HalError> {
        let memory =
            self.memory.get_mut(&handle).ok_or_else(|| wrong("memory that is not there"))?;
        memory.get_mut(offset as usize..).ok_or_else(|| wrong("memory outside"))
    }

    fn launch(&mut self, n: &[u64], blob: &[u8], params: &[Vec<u8>]) -> Result<(), HalError> {
        let [kernel, rank, grouped, proved, sizes @ ..] = n else { return Err(wrong("a launch")) };
        let dims = |at: usize| -> Dims {
            std::array::from_fn(|d| sizes.get(at + d).map_or(1, |n| *n as usize))
        };
        let group = (*grouped == 1).then(|| dims(6));
        let geometry = Geometry { offset: dims(0), group, ..Geometry::new(*rank as u8, dims(3)) };
        let mut found = Vec::new();
        for param in params {
            let n = numbers(param);
            let dims = |at: usize| -> Dims {
                std::array::from_fn(|d| n.get(at + d).map_or(0, |n| *n as usize))
            };
            // Of what is not accessed there need be no memory.
            let base = match dims(8).contains(&0) {
                true => std::ptr::null_mut(),
                false => self.at(n[0], n[1])?.as_mut_ptr(),
            };
            let (index, shape) = (dims(11), dims(14));
            found.push(ParamPtr {
                base,
                dims: dims(2),
                origin: dims(5),
                extent: dims(8),
                index,
                shape,
            });
        }
        let kernel = self.kernels.get(kernel).ok_or_else(|| wrong("a kernel that is not there"))?;
        // SAFETY: the memory is in the table, this process has one thread, and what the engine
        // gives is inside of the allocations and does not alias.
        unsafe { kernel.run(&geometry, blob, &found, *proved == 1) }
    }
}
