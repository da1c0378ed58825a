//! Which text a launch takes, and how it is cut into blocks of threads: for every backend that
//! launches what is emitted.

use super::{Capabilities, Dialect, Form, Lacks, Module, Threads, emit};
use crate::ir::Kernel;
use crate::tile::{items_per_thread, tile};

/// The devices for which launches of item kernels are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Many threads at a time, of which some work while others wait for memory: blocks of all
    /// dimensions, and several items for each thread of a large launch.
    Gpu,
    /// Few threads, each with a part of a row, whose items go one after the other or as vectors.
    Cpu,
}

/// Threads of a block for [`Cut::Gpu`], by the kernel's rank; the slowest dimension first.
const BLOCKS: [[u64; 3]; 3] = [[1, 1, 256], [1, 8, 32], [2, 4, 32]];

/// Threads of a block, and in its slowest dimension, that every device has.
const BLOCK: u32 = 256;
const SLICES: u64 = 64;

/// Threads that a compute unit has at a time, and as many launches of one item for each thread as
/// one of several must be worth where it leaves a rest for another launch.
const RESIDENT: u64 = 2048;
const WORTH_A_REST: u64 = 4;

/// The texts of a kernel, as modules or as what a backend makes of these.
#[derive(Clone, Debug)]
pub struct Texts<T> {
    /// Threads of a block, where they are items and no groups; the slowest dimension first.
    pub block: [u64; 3],
    checked: T,
    /// Without tests of indices, and with places of 32 bits where the launches are cut for GPUs;
    /// none if the text is the same.
    proved: Option<T>,
    /// Of so many items for each thread, without tests, and in which nothing can fail.
    tiled: Option<(u8, T)>,
}

impl Texts<Module> {
    /// Emits a kernel for devices with these capabilities.
    pub fn of(
        kernel: &Kernel,
        dialect: Dialect,
        capabilities: &Capabilities,
        cut: Cut,
    ) -> Result<Texts<Module>, Lacks> {
        let gpu = cut == Cut::Gpu;
        let block = if gpu { block_of(kernel) } else { [1; 3] };
        let block = narrowed(block, capabilities.block);
        let text = |kernel: &Kernel, checked: bool| {
            // OpenCL says only of a text that is built how large its blocks may be.
            let fixed = dialect == Dialect::Cuda || kernel.shape.tile > 1;
            let width = (gpu && fixed).then_some(block[2] as u32);
            let unroll = gpu && !checked;
            let form =
                Form { width, unroll, rows: !gpu, narrow: unroll, ..Form::new(dialect, checked) };
            emit(kernel, form, capabilities)
        };
        let (checked, proved) = (text(kernel, true)?, text(kernel, false)?);
        let several = items_per_thread(kernel).filter(|_| gpu && !proved.layout.verdict);
        let tiled = several.and_then(|several| Some((several, tile(kernel, several).ok()?)));
        let tiled = tiled.map(|(several, kernel)| Ok((several, text(&kernel, false)?)));
        let proved = (checked.text != proved.text).then_some(proved);
        Ok(Texts { block, checked, proved, tiled: tiled.transpose()? })
    }
}

impl<T> Texts<T> {
    #[cfg(feature = "spirv")]
    pub(super) fn new(
        block: [u64; 3],
        checked: T,
        proved: Option<T>,
        tiled: Option<(u8, T)>,
    ) -> Texts<T> {
        Texts { block, checked, proved, tiled }
    }

    /// Makes something of each of them.
    pub fn load<U, E>(self, mut load: impl FnMut(T) -> Result<U, E>) -> Result<Texts<U>, E> {
        let checked = load(self.checked)?;
        let proved = self.proved.map(&mut load).transpose()?;
        let tiled = self.tiled.map(|(items, text)| Ok((items, load(text)?))).transpose()?;
        Ok(Texts { block: self.block, checked, proved, tiled })
    }

    /// Shows each of them.
    pub fn each(&self, see: &mut dyn FnMut(&T)) {
        see(&self.checked);
        self.proved.iter().for_each(&mut *see);
        self.tiled.iter().for_each(|(_, text)| see(text));
    }

    /// That of a launch of which all accesses are proved and that [`is_narrow`](super::is_narrow),
    /// or of another.
    pub fn text(&self, proved: bool) -> &T {
        self.proved.as_ref().filter(|_| proved).unwrap_or(&self.checked)
    }

    /// That of several items for each thread, and for how many columns of a launch for which
    /// [`text`](Self::text) is that without tests, on a device of so many compute units: none where
    /// that would not occupy the device. The rest of the columns is another launch, of
    /// [`text`](Self::text).
    pub fn several(&self, range: [u64; 3], compute_units: u64) -> Option<(&T, u64)> {
        let (items, text) = self.tiled.as_ref()?;
        let ([slices, rows, columns], items) = (range, u64::from(*items));
        let rest = columns % (self.block[2] * items);
        let worth = if rest == 0 { 1 } else { WORTH_A_REST };
        let least = RESIDENT.saturating_mul(compute_units).saturating_mul(items * worth);
        let enough = slices.saturating_mul(rows).saturating_mul(columns) >= least;
        (rest < columns && enough).then_some((text, columns - rest))
    }
}

impl Threads {
    /// Items of a block in each dimension, where each block is of so many threads.
    pub fn items(self, block: [u64; 3]) -> [u64; 3] {
        match self {
            Threads::Items { tile } => [block[0], block[1], block[2] * u64::from(tile)],
            Threads::Rows | Threads::Groups | Threads::Linear => block,
        }
    }
}

/// The block that a kernel asks for, or the usual one.
pub(super) fn block_of(kernel: &Kernel) -> [u64; 3] {
    match kernel.shape.block {
        [0, ..] => by_rank(kernel.shape.rank),
        block => block.map(u64::from),
    }
}

fn by_rank(rank: u8) -> [u64; 3] {
    BLOCKS[usize::from(rank.clamp(1, 3)) - 1]
}

/// Threads of a block of items at most, so that compilers of devices give them registers.
pub(super) fn most_threads(kernel: &Kernel, most: u32) -> u32 {
    let wanted = kernel.shape.block.iter().fold(1u32, |all, n| all.saturating_mul(*n));
    most.min(wanted.max(BLOCK))
}

/// A block of so many threads at most.
pub fn narrowed(mut block: [u64; 3], most: u32) -> [u64; 3] {
    block[0] = block[0].min(SLICES);
    for dim in 0..3 {
        while block[dim] > 1 && block.iter().product::<u64>() > u64::from(most) {
            block[dim] /= 2;
        }
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(body: &str, cut: Cut) -> Texts<Module> {
        let head = "kernel \"twice\" items 1 tile 1\nparam p0 = \"x\" view f32 1 inout item\n";
        let kernel = crate::parse::parse(&format!("{head}body {{\n{body}\n}}")).expect("a kernel");
        Texts::of(&kernel, Dialect::OpenCl, &Capabilities::LEAST, cut).expect("texts")
    }

    const TWICE: &str = "%0 u64 = query position 0 0
        %1 f32 = load p0[%0]
        %2 f32 = add %1, %1
        store p0[%0] = %2";

    /// A kernel's own block is taken where there are blocks, and fits the device.
    #[test]
    fn blocks_are_those_that_a_kernel_asks_for() {
        let text = |block: &str| {
            let head = format!(
                "kernel \"twice\" items 2 tile 1 {block}\nparam p0 = \"x\" view f32 2 inout item\n"
            );
            let body = "%0 u64 = query position 0 0 %1 u64 = query position 1 0
                %2 f32 = load p0[%0, %1] store p0[%0, %1] = %2";
            crate::parse::parse(&format!("{head}body {{\n{body}\n}}")).expect("a kernel")
        };
        let asks = text("block 1 16 8");
        assert_eq!(crate::parse::parse(&asks.to_string()).as_ref(), Ok(&asks));
        let block = |kernel: &Kernel, dialect, cut, most: u32| {
            let capabilities = Capabilities { block: most, ..Capabilities::LEAST };
            Texts::of(kernel, dialect, &capabilities, cut).expect("texts").block
        };
        for dialect in [Dialect::Cuda, Dialect::OpenCl] {
            assert_eq!(block(&asks, dialect, Cut::Gpu, 1024), [1, 16, 8]);
            assert_eq!(block(&asks, dialect, Cut::Gpu, 32), [1, 4, 8]);
            assert_eq!(block(&asks, dialect, Cut::Cpu, 1024), [1; 3]);
            assert_eq!(block(&text("block 1 32 32"), dialect, Cut::Gpu, 1024), [1, 32, 32]);
        }
        for wrong in ["block 0 16 8", "block 1 16 0", "block 1 1 1025"] {
            assert!(crate::verify::verify(&text(wrong)).is_err(), "{wrong}");
        }
        assert!(crate::verify::verify(&asks).is_ok());
    }

    /// Large launches are for threads of several items, in whole blocks; small ones and those that
    /// leave a rest which costs more are not.
    #[test]
    fn large_launches_take_several_items_for_each_thread() {
        let [texts, cpu] = [Cut::Gpu, Cut::Cpu].map(|cut| texts(TWICE, cut));
        let columns = |n| texts.several([1, 1, n], 2).map(|(_, columns)| columns);
        let full = 2 * RESIDENT * 4;
        assert!(cpu.several([1, 1, full], 2).is_none() && cpu.block == [1; 3]);
        assert_eq!(columns(full), Some(full));
        assert_eq!(columns(full - 1), None);
        assert_eq!(columns(full + 1), None);
        assert_eq!(columns(4 * full + 1023), Some(4 * full));
        assert_eq!(texts.several([1, full, 1], 2).map(|(_, columns)| columns), None);
        assert_eq!(texts.several([u64::MAX; 3], u64::MAX).map(|(text, _)| text.layout.threads), {
            Some(Threads::Items { tile: 4 })
        });
    }

    #[test]
    fn texts_that_are_alike_are_there_once() {
        let [nothing, twice] = ["", TWICE].map(|body| texts(body, Cut::Cpu));
        assert!(nothing.proved.is_none() && nothing.text(true) == nothing.text(false));
        assert!(twice.text(true) != twice.text(false));
    }

    #[test]
    fn blocks_fit_the_device() {
        assert_eq!(narrowed(by_rank(2), 1024), [1, 8, 32]);
        assert_eq!(narrowed(by_rank(2), 64), [1, 2, 32]);
        assert_eq!(narrowed(by_rank(3), 16), [1, 1, 16]);
        assert_eq!(narrowed(by_rank(1), 0), [1; 3]);
    }
}
