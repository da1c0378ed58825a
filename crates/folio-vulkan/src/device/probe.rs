//! Measurements of a device's floats, when devices are looked for.
//!
//! Vulkan lets divisions and square roots be wrong by 2.5 ULP, and drivers report neither whether
//! they are exact nor, often, what becomes of denormals. A kernel computes some thousand quotients,
//! roots, sums and conversions, among them such as are near to the middle of two floats, and the
//! host compares them to its own. An operation that is not exact is computed digit by digit in
//! kernels ([`folio_kernel::soft`]); `f32` that lose denormals are told by a capability; `f64` that
//! do are not offered, since the semantics keep them. A device that loses the signs of zeros is not
//! used, and neither is one that does not run the kernel: the error is the reason. If only the
//! kernel of `f64` fails, the device has none, and the error is among the backend's messages.
//! Atomic sums by one instruction are used where they are those of the device's other sums, to the
//! bit.

use crate::device::VulkanDevice;
use crate::device::platform::Found;
use folio_cache::Cache;
use folio_core::hal::{
    AllocKind, AllocReq, Args, Device, Geometry, HalError, Head, KernelRef, KernelSource, LaneKind,
    MemBase, MemRef, Op, Order, Param,
};
use folio_kernel::emit::spirv::{Adds, Capabilities};
use folio_kernel::soft::{Exact, Fused};
use folio_kernel::{
    Access, Atomic, Binary, Builder, Compare, Kernel, Op as IrOp, Owner, Place, Scalar, Unary,
};
use std::time::{Duration, Instant};

/// Pairs of numbers.
const PAIRS: usize = 4096;
/// A factor that makes `f32` denormal of what is near to one.
const TO_DENORMALS: f64 = f64::from_bits((1023 - 136) << 52);
/// The comparisons.
const ORDER: [Compare; 3] = [Compare::Lt, Compare::Eq, Compare::Ge];
/// The longest time of a kernel of some instructions on a device that answers.
const PATIENCE: Duration = Duration::from_secs(20);

/// The findings about a type of floats.
#[derive(Clone, Copy, Debug, Default)]
struct Floats {
    /// Quotients and roots are exact.
    exact: bool,
    /// Comparisons are, also of denormals.
    compares: bool,
    denormals: bool,
    /// Conversions to `f32` are.
    narrows: bool,
    /// Conversions to `f32` that is denormal, and back, are.
    converts: bool,
    /// Sums and products that are zero have another sign.
    loses_signs: bool,
    /// Products and sums in one operation are rounded once where nothing is denormal.
    fuses: bool,
    /// And elsewhere.
    fuses_denormals: bool,
    /// Atomic sums are as its other sums, where the device has such.
    adds: bool,
}

/// The operations that a device is asked for beside those of all devices.
#[derive(Clone, Copy)]
struct Operations {
    fuses: bool,
    adds: bool,
}

/// Measures, and publishes what was found; or why the device cannot be used.
pub(crate) fn measure(found: &mut Found) -> Result<(), String> {
    // The device computes here, and not the kernel by integers.
    let fused = Fused { f32: true, f64: found.target.capabilities.base.f64 };
    found.target.capabilities.exact = Exact { fused, ..Exact::ALL };
    let single = floats(found, Scalar::F32)
        .map_err(|error| format!("{} does not run a probe: {error}", found.info.name))?;
    let target = &mut found.target;
    let has_doubles = target.capabilities.base.f64;
    target.capabilities.exact.f32 = single.exact;
    target.denormals = single.denormals;
    let double = if has_doubles { floats(found, Scalar::F64) } else { Ok(Floats::default()) };
    let double = double.unwrap_or_else(|error| {
        let name = &found.info.name;
        found.shared.messages.add(format!("{name} does not run a probe of `f64`: {error}"));
        Floats::default()
    });
    let capabilities = &mut found.target.capabilities;
    capabilities.base.f64 &= double.denormals && !double.loses_signs;
    capabilities.exact.f64 = double.exact;
    capabilities.exact.doubles = capabilities.base.f64 && double.narrows;
    // Where sums lose denormals, conversions and comparisons may.
    capabilities.exact.conversions = double.converts || !single.denormals;
    capabilities.exact.comparisons = single.compares || !single.denormals;
    capabilities.exact.fuses_normals = single.fuses;
    capabilities.exact.fused = Fused {
        f32: single.fuses && single.fuses_denormals,
        f64: fused.f64 && double.fuses && double.fuses_denormals,
    };
    let adds = capabilities.adds;
    capabilities.adds = Adds {
        f32: adds.f32 && single.adds,
        f64: adds.f64 && double.adds && capabilities.base.f64,
    };
    found.info.caps.denormals = single.denormals;
    // By the device, or by integers.
    found.info.caps.exact_div_sqrt = true;
    match single.loses_signs {
        true => Err(format!("{} loses the signs of zeros", found.info.name)),
        false => Ok(()),
    }
}

/// Numbers by their bits: of all sizes, with few bits, and denormal.
fn numbers(of: Scalar) -> Vec<[u64; 2]> {
    let (fraction, bias) = if of == Scalar::F64 { (52, 1023) } else { (23, 127) };
    let mut seed = 0x5eed_u64;
    let mut next = || {
        // SplitMix64.
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    };
    let mut number = |at: usize| {
        let any = next();
        let rest = any & ((1 << fraction) - 1);
        match at % 4 {
            0 => any & of.mask() >> 1,
            1 => bias << fraction | rest,
            // Numbers a little below, or above, a power of two: quotients near to the middle.
            2 => (bias << fraction) + (any >> 60) - 8,
            _ => rest >> (any >> 58),
        }
    };
    // Zeros and ones of both signs come first.
    let minus = of.mask() ^ of.mask() >> 1;
    let plain = [0, minus, bias << fraction, bias << fraction | minus];
    let mut pair = |at: usize| match plain.get(at / plain.len()) {
        Some(first) => [*first, plain[at % plain.len()]],
        None if at == plain.len() * plain.len() => factors(of),
        None => [number(at), number(at / 4)],
    };
    (0..PAIRS).map(&mut pair).collect()
}

/// Two factors of 2^32 + 1, of `f64` of 2^64 + 1.
fn factors(of: Scalar) -> [u64; 2] {
    match of {
        Scalar::F64 => [274_177.0f64, 67_280_421_310_721.0].map(f64::to_bits),
        _ => [641.0f32, 6_700_417.0].map(|factor| u64::from(factor.to_bits())),
    }
}

/// The addend to the product of a pair: the rest that rounding has taken from that, or less than
/// that; something else; and, to that of [`factors`], a number that makes the sum a little more
/// than the middle of two floats, by less than an `f64` tells of `f32`.
fn addend(of: Scalar, at: usize, [x, y]: [u64; 2]) -> u64 {
    let (near, far) = match of {
        Scalar::F64 => {
            ((f64::from_bits(x) * f64::from_bits(y)).to_bits(), 2.0f64.powi(117).to_bits())
        }
        _ => {
            let product = f32::from_bits(x as u32) * f32::from_bits(y as u32);
            (u64::from(product.to_bits()), u64::from(2.0f32.powi(56).to_bits()))
        }
    };
    let minus = of.mask() ^ of.mask() >> 1;
    match at % 4 {
        _ if [x, y] == factors(of) => far,
        0 | 1 => near ^ minus,
        2 => near ^ minus ^ 1 << (at >> 2 & 31),
        _ => x.rotate_left(at as u32) & of.mask(),
    }
}

fn kernel(of: Scalar, Operations { fuses, adds }: Operations) -> Result<Kernel, HalError> {
    let mut b = Builder::items("probe", 1);
    let inputs = ["x", "y", "z"].map(|name| b.view(name, of, 1, Access::In, Owner::Item));
    let names = ["quotient", "root", "sum", "product"];
    let outs = names.map(|name| b.view(name, of, 1, Access::Out, Owner::Item));
    let narrow = b.view("narrow", Scalar::F32, 1, Access::Out, Owner::Item);
    let small = b.view("small", Scalar::F32, 1, Access::Out, Owner::Item);
    let wide = b.view("wide", of, 1, Access::Out, Owner::Item);
    let fused = b.view("fused", of, 1, Access::Out, Owner::Item);
    let compared = b.view("compared", Scalar::U32, 1, Access::Out, Owner::Item);
    let added = b.view("added", of, 1, Access::InOut, Owner::Atomic);
    let before = b.view("before", of, 1, Access::Out, Owner::Item);
    let i = b.position(0);
    let [x, y, z] = inputs.map(|input| b.load_at(input, [i]));
    let results = [
        b.binary(Binary::Div, x, y),
        b.op(IrOp::Unary(Unary::Sqrt, x)),
        b.binary(Binary::Add, x, y),
        b.binary(Binary::Mul, x, y),
    ];
    for (out, result) in outs.into_iter().zip(results) {
        b.store_at(out, [i], result);
    }
    let single = if of == Scalar::F32 { results[2] } else { b.cast(results[2], Scalar::F32) };
    b.store_at(narrow, [i], single);
    let (least, back) = match of {
        Scalar::F32 => (x, x),
        _ => {
            let scale = b.f64(TO_DENORMALS);
            let product = b.binary(Binary::Mul, x, scale);
            let least = b.cast(product, Scalar::F32);
            (least, b.cast(least, of))
        }
    };
    b.store_at(small, [i], least);
    b.store_at(wide, [i], back);
    let once = if fuses { b.op(IrOp::Fma(x, y, z)) } else { x };
    b.store_at(fused, [i], once);
    let mut order = b.bits(Scalar::U32, 0);
    for (bit, op) in ORDER.into_iter().enumerate() {
        let holds = b.op(IrOp::Compare(op, x, y));
        let (yes, no) = (b.bits(Scalar::U32, 1 << bit), b.bits(Scalar::U32, 0));
        let word = b.op(IrOp::Select(holds, yes, no));
        order = b.binary(Binary::Or, order, word);
    }
    b.store_at(compared, [i], order);
    // Each has an element of its own, so that it is known what is added to what.
    let old = match adds {
        true => b.atomic(Atomic::Add, Place::element(added, [i]), &[y]),
        false => x,
    };
    b.store_at(before, [i], old);
    b.finish().map_err(|error| HalError::unsupported(&error.to_string()))
}

/// Has the device compute, and compares.
fn floats(found: &Found, of: Scalar) -> Result<Floats, HalError> {
    let Capabilities { exact: Exact { fused, .. }, adds, .. } = found.target.capabilities;
    let (fuses, adds) = match of {
        Scalar::F64 => (fused.f64, adds.f64),
        _ => (fused.f32, adds.f32),
    };
    let kernel = kernel(of, Operations { fuses, adds })?;
    let pairs = numbers(of);
    let size = of.size() as usize;
    let column = |at: usize| -> Vec<u8> {
        pairs.iter().flat_map(|pair| pair[at].to_le_bytes()[..size].to_vec()).collect()
    };
    let addends: Vec<u64> = (0..PAIRS).map(|at| addend(of, at, pairs[at])).collect();
    let third = addends.iter().flat_map(|bits| bits.to_le_bytes()[..size].to_vec()).collect();
    let mut columns = vec![column(0), column(1), third];
    columns.extend([(); 4].map(|()| vec![0; size * PAIRS]));
    columns.extend([4, 4, size, size, 4].map(|size| vec![0; size * PAIRS]));
    columns.extend([column(0), vec![0; size * PAIRS]]);
    run(found, &kernel, &mut columns, &Geometry::new(1, [1, 1, PAIRS]))?;
    let word = |column: usize, at: usize| {
        let size = columns[column].len() / PAIRS;
        let bytes = &columns[column][at * size..(at + 1) * size];
        bytes.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte))
    };
    let mut answer = Floats {
        exact: true,
        compares: true,
        denormals: true,
        narrows: true,
        converts: true,
        loses_signs: false,
        fuses: true,
        fuses_denormals: true,
        adds: true,
    };
    let mut divides_denormals = true;
    for (at, ([x, y], z)) in pairs.iter().zip(&addends).enumerate() {
        let wanted = wanted(of, [*x, *y, *z], fuses);
        let found: [u64; 8] = std::array::from_fn(|column| word(3 + column, at));
        let same = |column: usize| {
            let narrow = of == Scalar::F32 || [4, 5].contains(&column);
            let nan = |bits| is_nan(if narrow { Scalar::F32 } else { of }, bits);
            wanted[column] == found[column] || (nan(wanted[column]) && nan(found[column]))
        };
        // Where denormals take part, it is they that are looked at.
        let meets =
            |column: usize| [*x, *y, wanted[column]].into_iter().any(|bits| is_denormal(of, bits));
        answer.denormals &= [2, 3].into_iter().all(|column| !meets(column) || same(column));
        let is_zero = |column: usize| wanted[column] & of.mask() >> 1 == 0;
        answer.loses_signs |= [2, 3].into_iter().any(|column| is_zero(column) && !same(column));
        answer.exact &= [0, 1].into_iter().all(|column| meets(column) || same(column));
        divides_denormals &= [0, 1].into_iter().all(same);
        answer.narrows &= is_denormal(Scalar::F32, wanted[4]) || meets(2) || same(4);
        // Products of denormal doubles are looked at above.
        answer.converts &= is_denormal(of, *x) || (same(5) && same(6));
        answer.fuses &= meets(3) || meets(7) || is_denormal(of, *z) || same(7);
        answer.fuses_denormals &= same(7);
        answer.compares &= word(11, at) == ordered(of, *x, *y);
        let (sum, added) = (found[2], word(12, at));
        let same = |one, other| one == other || is_nan(of, one) && is_nan(of, other);
        answer.adds &= same(sum, added) && same(*x, word(13, at));
    }
    answer.exact &= divides_denormals || !answer.denormals;
    answer.fuses_denormals |= !answer.denormals;
    Ok(answer)
}

/// The results of the comparisons of [`ORDER`], a bit each.
fn ordered(of: Scalar, x: u64, y: u64) -> u64 {
    let number = |bits: u64| match of {
        Scalar::F64 => f64::from_bits(bits),
        _ => f64::from(f32::from_bits(bits as u32)),
    };
    let (x, y) = (number(x), number(y));
    u64::from(x < y) | u64::from(x == y) << 1 | u64::from(x >= y) << 2
}

fn is_nan(of: Scalar, bits: u64) -> bool {
    match of {
        Scalar::F64 => f64::from_bits(bits).is_nan(),
        _ => f32::from_bits(bits as u32).is_nan(),
    }
}

fn is_denormal(of: Scalar, bits: u64) -> bool {
    match of {
        Scalar::F64 => f64::from_bits(bits).is_subnormal(),
        _ => f32::from_bits(bits as u32).is_subnormal(),
    }
}

/// The results of the host: quotient, root, sum, product, the sum as `f32`, something smaller as
/// `f32`, and that back again; product and addend, rounded once, if that is asked for.
fn wanted(of: Scalar, operands: [u64; 3], fuses: bool) -> [u64; 8] {
    if of == Scalar::F64 {
        let [x, y, z] = operands.map(f64::from_bits);
        let narrow = u64::from(((x + y) as f32).to_bits());
        let once = if fuses { x.mul_add(y, z) } else { x };
        let [q, r, s, p, once] = [x / y, x.sqrt(), x + y, x * y, once].map(f64::to_bits);
        let small = (x * TO_DENORMALS) as f32;
        return [q, r, s, p, narrow, u64::from(small.to_bits()), f64::from(small).to_bits(), once];
    }
    let [x, y, z] = operands.map(|bits| f32::from_bits(bits as u32));
    let once = if fuses { x.mul_add(y, z) } else { x };
    let all = [x / y, x.sqrt(), x + y, x * y, x + y, x, x, once];
    all.map(|float| u64::from(float.to_bits()))
}

/// Runs a kernel over these bytes, each of its views having as many elements as there are items.
pub(crate) fn run(
    found: &Found,
    kernel: &Kernel,
    columns: &mut [Vec<u8>],
    geometry: &Geometry,
) -> Result<(), HalError> {
    let dims = geometry.range;
    let items: usize = dims.iter().product();
    let device = VulkanDevice::open(found, Cache::off())?;
    let lane = device.lane(LaneKind::Compute, 0)?;
    let handle = device.load(&KernelSource::Ir(kernel))?;
    let (mut params, mut hosts) = (vec![], vec![]);
    for column in columns.iter() {
        let made = device.0.alloc(&AllocReq {
            kind: AllocKind::Host,
            size: column.len() as u64,
            align: 256,
            import: None,
            zeroed: false,
            linked: false,
            exported: false,
            label: "folio probe",
        })?;
        let none = || HalError::unsupported("memory that the host reaches");
        let host = made.host.ok_or_else(none)?.0;
        // SAFETY: the allocation has so many bytes, and nobody else knows it.
        unsafe { std::ptr::copy_nonoverlapping(column.as_ptr(), host, column.len()) };
        hosts.push(host);
        params.push(Param {
            mem: MemRef { base: MemBase::Device { device: 0, handle: made.handle }, offset: 0 },
            size: (column.len() / items) as u32,
            write: true,
            dims,
            origin: [0; 3],
            extent: dims,
            index: [0; 3],
            shape: dims,
        });
    }
    let args = Args { proved: true, ..Args::new(&params) };
    let head = Head { tick: 1, order: Order::AfterPrevious, waits: &[], label: "", timed: false };
    lane.enqueue(&head, Op::Launch(KernelRef::Loaded(handle), geometry, args))?;
    if !lane.wait(1, Some(Instant::now() + PATIENCE))? {
        return Err(HalError::unsupported("an answer in time"));
    }
    let mut failed = None;
    lane.failures(&mut |_, error| failed = Some(error));
    if let Some(error) = failed {
        return Err(error);
    }
    for (column, host) in columns.iter_mut().zip(hosts) {
        // SAFETY: as above; the lane has ended.
        unsafe { std::ptr::copy_nonoverlapping(host, column.as_mut_ptr(), column.len()) };
    }
    Ok(())
}
