//! Sub-groups: of how many threads they are, how pipelines come to have as many, and whether the
//! device does with them what kernels rely on, which a kernel measures when devices are looked for.
//!
//! Kernels rely on more than Vulkan promises: that the threads of a block that is a row are in its
//! sub-groups one after the other, also where the last is not full, and that lanes are together
//! again behind a branch. A device that is seen to do otherwise has sub-groups of one thread.

use crate::device::Core;
use crate::device::platform::Found;
use crate::device::probe;
use ash::vk;
use folio_core::geom::Dims;
use folio_core::hal::{Geometry, HalError};
use folio_kernel::{
    Access, Binary, Builder, Combine, Compare, Fold, Kernel, Op, Owner, Scalar, Subgroup,
};

/// Most threads of a sub-group that the semantics know.
const WIDEST: u32 = 128;

/// How pipelines come to have sub-groups of one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Subgroups {
    /// The size must be asked for, since the device has several: then a block has so many
    /// sub-groups at most.
    asked: Option<u32>,
    /// A pipeline can ask that all threads of its sub-groups are there.
    full: bool,
}

impl Subgroups {
    /// Threads of a sub-group in kernels, and how pipelines come to have as many: 1 where the
    /// device lacks an operation, or does not promise the size.
    pub(crate) fn of(
        features: &vk::PhysicalDeviceVulkan13Features<'_>,
        v11: &vk::PhysicalDeviceVulkan11Properties<'_>,
        v13: &vk::PhysicalDeviceVulkan13Properties<'_>,
    ) -> (u32, Subgroups) {
        use vk::SubgroupFeatureFlags as Has;
        let needed = Has::BASIC | Has::VOTE | Has::BALLOT | Has::SHUFFLE;
        let compute = vk::ShaderStageFlags::COMPUTE;
        let width = v11.subgroup_size;
        let is_fixed = v13.min_subgroup_size == width && v13.max_subgroup_size == width;
        let is_asked = features.subgroup_size_control == vk::TRUE
            && v13.required_subgroup_size_stages.contains(compute);
        let is_usable = v11.subgroup_supported_operations.contains(needed)
            && v11.subgroup_supported_stages.contains(compute)
            && (is_fixed || is_asked)
            && width.is_power_of_two()
            && width <= WIDEST;
        let asked = (!is_fixed).then_some(v13.max_compute_workgroup_subgroups);
        let full = features.compute_full_subgroups == vk::TRUE;
        (if is_usable { width } else { 1 }, Subgroups { asked, full })
    }

    /// A pipeline must ask for their size.
    pub(crate) fn is_asked(self) -> bool {
        self.asked.is_some()
    }

    /// The flags of a pipeline of blocks of so many threads: Vulkan knows full sub-groups only
    /// where a block is of whole ones.
    pub(crate) fn flags(self, width: u32, threads: [u32; 3]) -> vk::PipelineShaderStageCreateFlags {
        let is_whole = threads.iter().product::<u32>().is_multiple_of(width);
        match self.full && is_whole {
            true => vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS,
            false => vk::PipelineShaderStageCreateFlags::empty(),
        }
    }
}

/// Whether a group whose threads are a row has room in a block with sub-groups of this size.
pub(crate) fn check_row(core: &Core, group: Dims, width: u32) -> Result<(), HalError> {
    let target = &core.target;
    let [most, ..] = target.most_threads;
    let of_subgroups = target.subgroups.asked.map_or(most, |count| width.saturating_mul(count));
    let (items, most) = (group.iter().product::<usize>(), most.min(of_subgroups) as usize);
    if items > most {
        let group = format!("{group:?} with sub-groups of {width}");
        let limit = format!("the device has {most} items at most in such a group");
        return Err(HalError::large_group(group, most, limit));
    }
    Ok(())
}

/// Whether the device's sub-groups are as kernels rely on: else they have one thread.
pub(crate) fn measure(found: &mut Found) {
    let width = found.target.capabilities.subgroup as usize;
    if width == 1 {
        return;
    }
    // Whole sub-groups, and such of which the last is not full.
    let sizes = [2 * width, width + width / 2 + 1];
    let is_right = sizes.into_iter().all(|size| is_as_relied_on(found, size).unwrap_or(false));
    if !is_right {
        found.target.capabilities.subgroup = 1;
    }
}

/// Groups of a measurement.
const GROUPS: usize = 3;

/// The results of each item of a sub-group: a scan and a shuffle of a number, behind a branch that
/// some lanes take, and the sub-group's vote about that branch.
fn kernel() -> Result<Kernel, HalError> {
    let mut b = Builder::groups("lanes", 1);
    let x = b.view("x", Scalar::U32, 1, Access::In, Owner::Item);
    let names = ["sums", "others", "votes"];
    let outs = names.map(|name| b.view(name, Scalar::U32, 1, Access::Out, Owner::Item));
    let own = b.var("own", Scalar::U32, false);
    b.phase(|b| {
        let i = b.position(0);
        let value = b.load_at(x, [i]);
        let (one, three) = (b.bits(Scalar::U32, 1), b.bits(Scalar::U32, 3));
        let odd = b.binary(Binary::And, value, one);
        let odd = b.compare(Compare::Eq, odd, one);
        b.if_else(
            odd,
            |b| {
                let more = b.binary(Binary::Mul, value, three);
                b.set(own, more);
            },
            |b| b.set(own, value),
        );
        let own = b.get(own);
        let sum = b.op(Op::SubgroupFold(Fold::Inclusive, Combine::Add, own));
        let other = b.op(Op::Subgroup(Subgroup::ShuffleXor, vec![own, one]));
        let votes = [Subgroup::Any, Subgroup::All].map(|op| {
            let vote = b.op(Op::Subgroup(op, vec![odd]));
            b.cast(vote, Scalar::U32)
        });
        let votes = b.binary(Binary::Add, votes[0], votes[1]);
        for (out, result) in outs.into_iter().zip([sum, other, votes]) {
            b.store_at(out, [i], result);
        }
    });
    b.finish().map_err(|error| HalError::unsupported(&error.to_string()))
}

/// The number of an item: of sub-groups some have odd ones only, and some none.
fn number(item: usize, width: usize) -> u32 {
    let any = (item as u32).wrapping_mul(0x9e37_79b9) >> 8;
    match item / width % 3 {
        0 => any,
        1 => any | 1,
        _ => any & !1,
    }
}

/// Whether groups of so many items compute the right results of their sub-groups.
fn is_as_relied_on(found: &Found, size: usize) -> Result<bool, HalError> {
    let width = found.target.capabilities.subgroup as usize;
    let all: Vec<u32> = (0..GROUPS * size).map(|item| number(item, width)).collect();
    let bytes = all.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
    let mut columns = vec![bytes.clone()];
    columns.extend([(); 3].map(|()| vec![0; bytes.len()]));
    let geometry = Geometry { group: Some([1, 1, size]), ..Geometry::new(1, [1, 1, all.len()]) };
    probe::run(found, &kernel()?, &mut columns, &geometry)?;
    let mut wanted = vec![bytes, vec![], vec![], vec![]];
    for lanes in all.chunks(size).flat_map(|group| group.chunks(width)) {
        let is_odd = |number: u32| number & 1 == 1;
        let own = |number: u32| number.wrapping_mul(if is_odd(number) { 3 } else { 1 });
        let any = lanes.iter().any(|number| is_odd(*number));
        let every = lanes.iter().all(|number| is_odd(*number));
        let mut sum = 0u32;
        for (lane, number) in lanes.iter().enumerate() {
            sum = sum.wrapping_add(own(*number));
            let other = own(*lanes.get(lane ^ 1).unwrap_or(number));
            let results = [sum, other, u32::from(any) + u32::from(every)];
            for (column, result) in wanted.iter_mut().skip(1).zip(results) {
                column.extend(result.to_le_bytes());
            }
        }
    }
    Ok(columns == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device's properties, as the driver tells them.
    struct Properties {
        sizes: [u32; 3],
        asks: bool,
        operations: vk::SubgroupFeatureFlags,
        stages: vk::ShaderStageFlags,
    }

    const ALL: vk::SubgroupFeatureFlags = vk::SubgroupFeatureFlags::from_raw(0xff);
    const COMPUTE: vk::ShaderStageFlags = vk::ShaderStageFlags::COMPUTE;

    fn of(said: &Properties) -> (u32, Subgroups) {
        let [least, own, most] = said.sizes;
        let features = vk::PhysicalDeviceVulkan13Features::default()
            .subgroup_size_control(said.asks)
            .compute_full_subgroups(true);
        let v11 = vk::PhysicalDeviceVulkan11Properties::default()
            .subgroup_size(own)
            .subgroup_supported_operations(said.operations)
            .subgroup_supported_stages(said.stages);
        let v13 = vk::PhysicalDeviceVulkan13Properties::default()
            .min_subgroup_size(least)
            .max_subgroup_size(most)
            .required_subgroup_size_stages(COMPUTE)
            .max_compute_workgroup_subgroups(16);
        Subgroups::of(&features, &v11, &v13)
    }

    /// The size is the device's own where it has no other, or can be asked for; else there are no
    /// sub-groups, nor without votes, ballots, shuffles, or kernels that may use them.
    #[test]
    fn sizes_of_sub_groups_are_promised_or_one() {
        let no_shuffles = ALL & !vk::SubgroupFeatureFlags::SHUFFLE;
        let no_votes = ALL & !vk::SubgroupFeatureFlags::VOTE;
        let no_ballots = ALL & !vk::SubgroupFeatureFlags::BALLOT;
        let pixels = vk::ShaderStageFlags::FRAGMENT;
        let cases = [
            // As NVIDIA and lavapipe: one size.
            ([32, 32, 32], true, ALL, COMPUTE, 32, false),
            ([8, 8, 8], false, ALL, COMPUTE, 8, false),
            // As AMD and Intel: several, of which one is asked for.
            ([32, 64, 64], true, ALL, COMPUTE, 64, true),
            ([8, 32, 32], true, ALL, COMPUTE | pixels, 32, true),
            ([32, 64, 64], false, ALL, COMPUTE, 1, true),
            ([32, 32, 32], true, no_shuffles, COMPUTE, 1, false),
            ([32, 32, 32], true, no_votes, COMPUTE, 1, false),
            ([32, 32, 32], true, no_ballots, COMPUTE, 1, false),
            ([32, 32, 32], true, ALL, pixels, 1, false),
            ([256, 256, 256], true, ALL, COMPUTE, 1, false),
        ];
        for (sizes, asks, operations, stages, width, is_asked) in cases {
            let (found, subgroups) = of(&Properties { sizes, asks, operations, stages });
            assert_eq!((found, subgroups.is_asked()), (width, is_asked), "{sizes:?}, {asks}");
        }
    }

    /// Vulkan knows full sub-groups only in blocks of whole ones.
    #[test]
    fn full_sub_groups_are_asked_for_where_blocks_have_whole_ones() {
        const FULL: vk::PipelineShaderStageCreateFlags =
            vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS;
        let full = Subgroups { asked: None, full: true };
        assert_eq!(full.flags(32, [64, 1, 1]), FULL);
        assert_eq!(full.flags(32, [8, 4, 2]), FULL);
        assert!(full.flags(32, [40, 1, 1]).is_empty());
        assert!(Subgroups { full: false, ..full }.flags(32, [64, 1, 1]).is_empty());
    }
}
