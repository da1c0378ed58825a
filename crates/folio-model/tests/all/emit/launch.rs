//! Launches of emitted kernels over OpenCL, with arguments as the interpreter has them: what a
//! backend does, for tests.

use folio_kernel::code::ParamPtr;
use folio_kernel::emit::{Capabilities, Dialect, Form, Grid, Module, Record, Threads, emit};
use folio_kernel::launch::Launch;
use folio_kernel::{Kernel, ParamKind, Violation};
use folio_model::compilers::opencl::{Argument, Memory, OpenCl, Program};
use folio_model::interp::Arg;

/// The result of a launch.
pub struct Ran {
    pub text: String,
    pub violation: Option<Violation>,
    pub args: Vec<Arg>,
}

/// How a launch is cut.
pub struct How {
    pub form: Form,
    /// Threads of a block along the last dimension, for item kernels.
    pub block: usize,
    /// Elements around each view that are none of the kernel's business.
    pub margin: usize,
}

/// Shapes that begin with ones.
pub fn three(rank: u8, of: &[u64; 3]) -> [u64; 3] {
    let rank = usize::from(rank);
    std::array::from_fn(|dim| if dim + rank < 3 { 1 } else { of[dim + rank - 3] })
}

/// A view in the midst of more memory.
pub struct Framed {
    pub ptr: ParamPtr,
    pub bytes: Vec<u8>,
    size: usize,
}

const FRAME: u8 = 0xa5;

impl Framed {
    pub fn new(rank: u8, extent: &[u64], size: usize, bytes: &[u8], margin: usize) -> Framed {
        let mut all = [1; 3];
        all[..extent.len()].copy_from_slice(extent);
        let extent = three(rank, &all).map(|n| n as usize);
        let around = |dim: usize| if dim + usize::from(rank) < 3 { 0 } else { margin };
        let dims = std::array::from_fn(|dim| extent[dim] + 2 * around(dim));
        let origin = std::array::from_fn(around);
        let ptr = ParamPtr {
            base: std::ptr::null_mut(),
            dims,
            origin,
            extent,
            index: [0; 3],
            shape: extent,
        };
        let mut framed =
            Framed { ptr, bytes: vec![FRAME; dims.iter().product::<usize>() * size], size };
        let mut from = bytes.chunks(size);
        framed.elements(|element| element.copy_from_slice(from.next().unwrap()));
        framed
    }

    /// All elements of the view, in row-major order.
    fn elements(&mut self, mut see: impl FnMut(&mut [u8])) {
        let ParamPtr { dims, origin, extent, .. } = self.ptr;
        for x in 0..extent[0] {
            for y in 0..extent[1] {
                for z in 0..extent[2] {
                    let row = (origin[0] + x) * dims[1] + origin[1] + y;
                    let at = (row * dims[2] + origin[2] + z) * self.size;
                    see(&mut self.bytes[at..at + self.size]);
                }
            }
        }
    }

    /// The view's contents after the launch; an error if something around it has changed.
    pub fn after(mut self, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
        self.bytes = bytes;
        let mut inside = vec![];
        self.elements(|element| {
            inside.extend_from_slice(element);
            element.fill(FRAME);
        });
        match self.bytes.iter().all(|byte| *byte == FRAME) {
            true => Ok(inside),
            false => Err("memory around a view was written".to_owned()),
        }
    }
}

/// The device's capabilities.
pub fn capabilities(device: &OpenCl) -> Capabilities {
    let has = |name: &str| device.extensions.split(' ').any(|have| have == name);
    Capabilities {
        f64: has("cl_khr_fp64"),
        atomics64: has("cl_khr_int64_base_atomics") && has("cl_khr_int64_extended_atomics"),
        ..Capabilities::LEAST
    }
}

/// Emits, compiles and runs a kernel.
pub fn run(
    device: &OpenCl,
    kernel: &Kernel,
    launch: &Launch,
    args: &[Arg],
    how: &How,
) -> Result<Ran, String> {
    let module = emit(kernel, how.form, &capabilities(device));
    run_module(device, kernel, launch, args, how, module.map_err(|lacks| lacks.to_string())?)
}

/// Compiles and runs what was emitted.
pub fn run_module(
    device: &OpenCl,
    kernel: &Kernel,
    launch: &Launch,
    args: &[Arg],
    how: &How,
    module: Module,
) -> Result<Ran, String> {
    let options = Dialect::OpenCl.options(true);
    let program =
        device.compile(&module.text, options).map_err(|why| format!("{why}\n{}", module.text))?;
    if !program.log.is_empty() {
        return Err(format!("the compiler says: {}\n{}", program.log, module.text));
    }
    launched(device, kernel, launch, args, how, &module, &program)
        .map_err(|why| format!("{why}\n{}", module.text))
}

/// Whether positions and places of the launch have 31 bits.
pub fn is_narrow(kernel: &Kernel, launch: &Launch, args: &[Arg]) -> bool {
    let (rank, usizes) = (kernel.shape.rank, |of: [u64; 3]| of.map(|n| n as usize));
    let offset = three(rank, &launch.offset);
    let params =
        kernel.params.iter().zip(args).filter_map(|(param, arg)| match (&param.kind, arg) {
            (ParamKind::View { element, rank, .. }, Arg::View { extent, bytes }) => {
                let size = kernel.types.layout(*element).0 as usize;
                Some(Framed::new(*rank, extent, size, bytes, 0).ptr)
            }
            _ => None,
        });
    folio_kernel::emit::is_narrow(usizes(three(rank, &launch.range)), usizes(offset), params)
}

fn launched(
    device: &OpenCl,
    kernel: &Kernel,
    launch: &Launch,
    args: &[Arg],
    how: &How,
    module: &Module,
    program: &Program<'_>,
) -> Result<Ran, String> {
    let (grid, threads, block, values) = geometry(kernel, launch, module, how.block);
    let (mut framed, mut scalars) = (vec![], vec![]);
    for (param, arg) in kernel.params.iter().zip(args) {
        match (&param.kind, arg) {
            (ParamKind::View { element, rank, .. }, Arg::View { extent, bytes }) => {
                let size = kernel.types.layout(*element).0 as usize;
                framed.push(Framed::new(*rank, extent, size, bytes, how.margin));
            }
            (ParamKind::Reduce { element, .. }, Arg::Reduce(bytes)) => {
                // One value for each block or group.
                let size = kernel.types.layout(*element).0 as usize;
                let bytes = bytes.repeat(values as usize);
                framed.push(Framed::new(1, &[values], size, &bytes, 0));
            }
            (_, Arg::Scalar(bytes)) => {
                scalars.extend_from_slice(bytes);
                scalars.resize(scalars.len().next_multiple_of(8), 0);
            }
            _ => {}
        }
    }
    let params: Vec<_> = framed.iter().map(|framed| framed.ptr).collect();
    let mut words: Vec<u64> = vec![];
    module.layout.fill(&grid, &params, &scalars, &mut words);
    let words: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let memory: Vec<_> =
        framed.iter().map(|framed| device.memory(&framed.bytes)).collect::<Result<_, _>>()?;
    let verdict = device.memory(&[0; 8 * Record::WORDS])?;
    let block_memory = device.memory(&words)?;
    let mut arguments = vec![];
    if !words.is_empty() {
        arguments.push(match module.layout.by_value {
            true => Argument::Bytes(&words),
            false => Argument::Memory(&block_memory),
        });
    }
    arguments.extend(memory.iter().map(Argument::Memory));
    if module.layout.verdict {
        arguments.push(Argument::Memory(&verdict));
    }
    if module.layout.scratch > 0 {
        let threads: usize = block.iter().product();
        arguments.push(Argument::Local(module.layout.scratch as usize * threads));
    }
    // SAFETY: these are the arguments that the layout says.
    unsafe { program.run(&module.entry, &arguments, threads, block)? };
    let results = finish(device, program, module, &memory, values, how.block)?;
    let record: Vec<_> = verdict
        .read()?
        .chunks(8)
        .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
        .collect();
    let violation = module.points.violation(&Record(record.try_into().unwrap()));
    let mut after = vec![];
    let mut memory = framed.into_iter().zip(&memory);
    let mut results = results.into_iter();
    for arg in args {
        after.push(match arg {
            Arg::View { extent, .. } => {
                let (framed, memory) = memory.next().unwrap();
                Arg::View { extent: extent.clone(), bytes: framed.after(memory.read()?)? }
            }
            Arg::Reduce(_) => {
                memory.next();
                Arg::Reduce(results.next().unwrap())
            }
            other => other.clone(),
        });
    }
    Ok(Ran { text: module.text.clone(), violation, args: after })
}

/// The grid, its threads and its blocks by axis, and how many values it leaves for reductions.
fn geometry(
    kernel: &Kernel,
    launch: &Launch,
    module: &Module,
    wide: usize,
) -> (Grid, [usize; 3], [usize; 3], u64) {
    let rank = kernel.shape.rank;
    let (range, offset) = (three(rank, &launch.range), three(rank, &launch.offset));
    let offset =
        std::array::from_fn(|dim| if dim + usize::from(rank) < 3 { 0 } else { offset[dim] });
    let axes = |of: [u64; 3]| [of[2] as usize, of[1] as usize, of[0] as usize];
    let mut grid = Grid { first: offset, range, offset, groups: [1; 3] };
    match module.layout.threads {
        Threads::Items { tile } => {
            let block = [wide, if rank > 1 { 2 } else { 1 }, 1];
            let mut threads = axes(range);
            threads[0] = threads[0].div_ceil(usize::from(tile));
            let threads = std::array::from_fn(|axis| threads[axis].next_multiple_of(block[axis]));
            (grid, threads, block, 0)
        }
        // Now and then more than there are items.
        Threads::Rows => (grid, [wide, range[1] as usize, range[0] as usize], [1; 3], 0),
        Threads::Groups => {
            let size = three(rank, &launch.group);
            (grid.first, grid.groups) = ([0; 3], std::array::from_fn(|dim| range[dim] / size[dim]));
            (grid, axes(range), axes(size), grid.groups.iter().product())
        }
        Threads::Linear => {
            grid.first = [0; 3];
            let blocks = range.iter().product::<u64>().div_ceil(4096);
            (grid, [blocks as usize * wide, 1, 1], [wide, 1, 1], blocks)
        }
    }
}

/// The values of reductions.
fn finish(
    device: &OpenCl,
    program: &Program<'_>,
    module: &Module,
    memory: &[Memory<'_>],
    values: u64,
    wide: usize,
) -> Result<Vec<Vec<u8>>, String> {
    let mut results = vec![];
    for reduction in &module.reductions {
        let at = module.layout.pointers.iter().position(|param| *param == reduction.param);
        let size = reduction.bytes as usize;
        let mut now = memory[at.unwrap()].read()?;
        let mut left = values;
        while left > 1 {
            let next = left.div_ceil(4096);
            // Behind something else.
            let (count, place) = (left.to_le_bytes(), 1u64.to_le_bytes());
            let room = vec![0; (1 + next as usize) * size];
            let (from, to) = (device.memory(&now)?, device.memory(&room)?);
            let arguments = [
                Argument::Memory(&from),
                Argument::Memory(&to),
                Argument::Bytes(&count),
                Argument::Bytes(&place),
            ];
            // SAFETY: what the entry of a reduction takes.
            unsafe {
                program.run(
                    &reduction.entry,
                    &arguments,
                    [next as usize * wide, 1, 1],
                    [wide, 1, 1],
                )?;
            }
            now = to.read()?.split_off(size);
            left = next;
        }
        now.truncate(size);
        results.push(now);
    }
    Ok(results)
}
