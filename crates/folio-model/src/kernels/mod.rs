//! Random kernels of the IR, well typed by construction, each with a launch and arguments; and
//! what must hold of each of them.

mod check;
pub(crate) mod code;

pub use check::{case, check};

use crate::interp::Arg;
use crate::rng::Rng;
use code::Code;
use folio_kernel::launch::Launch;
use folio_kernel::{
    Access, Builder, Combine, Kernel, Owner, ParamId, ParamKind, Scalar, Type, VerifyError,
};

/// A kernel with something to do.
#[derive(Clone, Debug)]
pub struct Case {
    /// The kernel.
    pub kernel: Kernel,
    /// Its launch; extents and scalars are those of the arguments.
    pub launch: Launch,
    /// Its arguments.
    pub args: Vec<Arg>,
}

/// A view parameter, for the generator.
#[derive(Clone, Copy)]
pub(crate) struct View {
    pub param: ParamId,
    pub element: Type,
    pub rank: u8,
    pub access: Access,
    pub owner: Owner,
}

/// Makes the case with this seed; an error is a mistake of the generator.
pub fn generate(seed: u64) -> Result<Case, VerifyError> {
    let mut rng = Rng::new(seed);
    let groups = rng.chance(35);
    let rank = rng.within(1, if groups { 2 } else { 3 }) as u8;
    let large = large_group(seed).filter(|_| groups);
    let mut launch = Launch::default();
    for dim in 0..usize::from(rank) {
        let small = rng.within(1, 4) as u64;
        let size = large.map_or(small, |group| group[usize::from(rank) - 1][dim]);
        launch.group[dim] = if groups { size } else { 0 };
        let count = if rank == 3 { rng.within(1, 3) } else { rng.within(1, 5) } as u64;
        let most = if large.is_some() { 2 } else { 3 };
        launch.range[dim] = if groups { size * count.min(most) } else { size * count };
        launch.offset[dim] = if rng.chance(25) { rng.below(4) as u64 } else { 0 };
    }
    for dim in usize::from(rank)..3 {
        (launch.range[dim], launch.group[dim]) = (1, 1);
    }
    let builder = match groups {
        true => Builder::groups("random", rank),
        false => Builder::items("random", rank),
    };
    let mut code = Code::new(builder, rng, rank, groups.then_some(launch.group));
    parameters(&mut code);
    code.body();
    let mut rng = code.rng.clone();
    let kernel = code.builder.finish()?;
    let args = arguments(&kernel, &mut launch, &mut rng);
    Ok(Case { kernel, launch, args })
}

/// Some groups are several warps of a GPU, by numbers of their own: other cases stay what they are.
/// For one dimension, and for two.
fn large_group(seed: u64) -> Option<[[u64; 2]; 2]> {
    const LARGE: [[[u64; 2]; 2]; 4] =
        [[[33, 1], [9, 8]], [[64, 1], [4, 32]], [[100, 1], [16, 6]], [[128, 1], [3, 41]]];
    let mut rng = Rng::new(!seed);
    rng.chance(15).then(|| rng.pick(&LARGE))
}

fn parameters(code: &mut Code) {
    let types = code.memory_types();
    for at in 0..code.rng.below(3) {
        let ty = code.rng.pick(&types);
        let value = code.builder.scalar(&format!("s{at}"), ty);
        code.know(value);
    }
    for at in 0..code.rng.within(1, 2) {
        let element = code.rng.pick(&types);
        let rank = code.rng.within(1, 3) as u8;
        code.view(&format!("in{at}"), element, rank, Access::In, Owner::Item);
    }
    for at in 0..code.rng.within(1, 3) {
        let element = code.rng.pick(&types);
        let (rank, groups) = (code.rank, code.groups);
        let access = code.rng.pick(&[Access::Out, Access::InOut]);
        let name = format!("out{at}");
        match code.rng.below(10) {
            0 if rank == 1 && !groups => code.view(&name, element, 2, access, Owner::Row),
            1 if rank == 1 && !groups => code.view(&name, element, 2, access, Owner::Column),
            1 | 2 if groups => code.view(&name, element, rank, access, Owner::Group),
            _ => code.view(&name, element, rank, access, Owner::Item),
        }
    }
    if code.rng.chance(20) {
        let scalar = code.rng.pick(&[Scalar::I32, Scalar::U32, Scalar::I64, Scalar::U64]);
        code.view("atomic", scalar.into(), 1, Access::InOut, Owner::Atomic);
    }
    if code.rng.chance(20) {
        let scalar = code.rng.pick(&[Scalar::I32, Scalar::U64, Scalar::F32, Scalar::F16]);
        let combine = code.rng.pick(&[Combine::Add, Combine::Mul, Combine::Min, Combine::Max]);
        let kind = ParamKind::Reduce { element: scalar.into(), combine };
        let param = code.builder.param("reduce", kind);
        code.reduces.push((param, scalar));
    }
    if code.groups {
        let element = code.rng.pick(&types);
        let param = code.builder.param("local", ParamKind::Local { element, len: code.slots });
        code.locals.push((param, element));
    }
}

/// Arguments as large as the launch needs; those that are read anywhere, of any size.
fn arguments(kernel: &Kernel, launch: &mut Launch, rng: &mut Rng) -> Vec<Arg> {
    let mut args = vec![];
    for param in &kernel.params {
        let mut extents = [1; 3];
        let mut scalar = None;
        args.push(match &param.kind {
            ParamKind::Scalar(ty) => {
                let bytes = random_bytes(kernel, *ty, 1, rng);
                if let Some(known) = ty.scalar().filter(|s| s.is_int()) {
                    let mut word = [0; 8];
                    word[..bytes.len()].copy_from_slice(&bytes);
                    scalar = Some(known.int(u64::from_le_bytes(word)));
                }
                Arg::Scalar(bytes)
            }
            ParamKind::View { element, rank, access, owner } => {
                let extent: Vec<_> = (0..usize::from(*rank))
                    .map(|dim| match (access, owner) {
                        (Access::In, _) | (_, Owner::Atomic) => rng.within(1, 6) as u64,
                        (_, Owner::Group) => launch.range[dim] / launch.group[dim],
                        (_, Owner::Row) if dim == 1 => rng.within(1, 4) as u64,
                        (_, Owner::Column) if dim == 0 => rng.within(1, 4) as u64,
                        (_, Owner::Column) => launch.offset[0] + launch.range[0],
                        _ => launch.offset[dim] + launch.range[dim],
                    })
                    .collect();
                extents[..extent.len()].copy_from_slice(&extent);
                let count = extent.iter().product::<u64>() as usize;
                Arg::View { extent, bytes: random_bytes(kernel, *element, count, rng) }
            }
            ParamKind::Reduce { element, .. } => {
                Arg::Reduce(random_bytes(kernel, *element, 1, rng))
            }
            ParamKind::Local { .. } => Arg::Local,
        });
        launch.extents.push(extents);
        launch.scalars.push(scalar);
    }
    args
}

/// Bytes of small numbers, extreme ones, and any.
fn random_bytes(kernel: &Kernel, ty: Type, count: usize, rng: &mut Rng) -> Vec<u8> {
    let size = kernel.types.layout(ty).0 as usize;
    let mut bytes = vec![0; size * count];
    for chunk in bytes.chunks_mut(4) {
        let word = match rng.below(6) {
            0 => rng.next() as u32,
            1 => rng.pick(&[0, u32::MAX, 1 << 31, 0x7f80_0000, 0x7fc0_0000, 1]),
            2 => (rng.below(200) as f32 / 8.0 - 10.0).to_bits(),
            _ => rng.below(12) as u32,
        };
        chunk.copy_from_slice(&word.to_le_bytes()[..chunk.len()]);
    }
    bytes
}
