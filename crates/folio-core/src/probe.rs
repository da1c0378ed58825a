//! The probe of a device for the cost model of fusion: what a launch takes, and how fast memory and
//! caches are. The probe runs when a program asks for it, and never by itself. Its results are on
//! disk, where plans of later processes find it without being told.

use crate::error::Result;
use crate::graph::fuse::default_costs;
use crate::hal::{DeviceInfo, DeviceKind};
use crate::queue::Queue;
use crate::runtime::{DeviceRef, Runtime};
use folio_cache::{Cache, Key};
use folio_kernel::fuse::Costs;
use std::time::{Duration, Instant};

/// No measurement begins later than this after the first one: with the last it takes some 80 ms
/// where memory is slow.
const TIME: Duration = Duration::from_millis(50);
/// Each measurement is the best of so many.
const ROUNDS: u32 = 4;
/// Fills in a row, of which the time of one launch is told.
const LAUNCHES: u32 = 64;
/// Bytes of each of two buffers that are far beyond caches: of a GPU, and of other devices, whose
/// memory is slow enough that twice this takes milliseconds.
const GPU_BYTES: usize = 128 << 20;
const BYTES: usize = 16 << 20;

impl DeviceRef {
    /// The constants by which `enable_fusion` decides on this device: those that
    /// [`measure_fusion_costs`](Self::measure_fusion_costs) has measured on this machine, in this
    /// process or before, or else usual ones of its kind. The results on disk are looked up once,
    /// by the first plan or the first such call.
    pub fn fusion_costs(&self) -> Costs {
        self.fusion_costs_in(&Cache::from_environment)
    }

    fn fusion_costs_in(&self, cache: &dyn Fn() -> Cache) -> Costs {
        self.core.engine.fusion_costs(self.at, cache)
    }

    /// Measures those constants, or takes what an earlier call has found on this machine: that is
    /// in the cache of compiled programs. The probe begins no new round once 50 ms are over. Graphs
    /// that are finalized after this are fused by them. If the device has too little memory for it,
    /// usual constants stay.
    ///
    /// ```
    /// # use folio_core::{DeviceRef, Result};
    /// fn tune(device: &DeviceRef) -> Result<()> {
    ///     let costs = device.measure_fusion_costs()?;
    ///     assert_eq!(device.fusion_costs(), costs);
    ///     Ok(())
    /// }
    /// ```
    pub fn measure_fusion_costs(&self) -> Result<Costs> {
        self.measure_fusion_costs_in(&Cache::from_environment())
    }

    pub(crate) fn measure_fusion_costs_in(&self, cache: &Cache) -> Result<Costs> {
        let key = key_of(self.info());
        let make = || {
            let found = self.probe()?;
            Ok::<_, crate::Error>((found, Some(to_bytes(&found))))
        };
        // SAFETY: of this kind are numbers, which no driver runs.
        let costs = unsafe { cache.get_or_make(&key, from_bytes, make) }?;
        self.core.engine.set_fusion_costs(self.at, costs);
        Ok(costs)
    }

    fn probe(&self) -> Result<Costs> {
        let usual = default_costs(self.info());
        let gpu = self.info().kind == DeviceKind::Gpu;
        let bytes = if gpu { GPU_BYTES } else { BYTES };
        let (limit, used) = self.budget();
        if limit.saturating_sub(used) < 4 * bytes as u64 {
            return Ok(usual);
        }
        let rt = Runtime { core: self.core.clone() };
        let probe = Probe { q: rt.queue_on(self)?, rt, until: Instant::now() + TIME };
        let launch = probe.launch()?;
        let rate = |bytes: usize| probe.rate(bytes, launch);
        let memory = rate(bytes)?;
        // From large to small.
        let cached = [bytes / 4, bytes / 16, bytes / 64];
        let cached = cached.map(|bytes| rate(bytes).map(|rate| (2 * bytes as u64, rate)));
        let cached = cached.into_iter().collect::<Result<Vec<_>>>()?;
        Ok(costs_of(launch, memory, &cached, usual))
    }
}

/// The measurements: a launch in nanoseconds, bytes in a microsecond, and the same for working sets
/// by their bytes, from large to small. The rest is not measured.
fn costs_of(launch_ns: u64, memory_rate: u64, cached: &[(u64, u64)], usual: Costs) -> Costs {
    let best = cached.iter().map(|(_, rate)| *rate).max().unwrap_or(0).max(memory_rate);
    let near = |rate: u64| rate > memory_rate && rate - memory_rate >= (best - memory_rate) / 2;
    let holds = cached.iter().find(|(_, rate)| near(*rate));
    Costs {
        launch_ns,
        memory_rate,
        cache_rate: best,
        cache_bytes: holds.map_or(0, |(bytes, _)| *bytes),
        ..usual
    }
}

struct Probe {
    rt: Runtime,
    q: Queue,
    until: Instant,
}

impl Probe {
    /// The shortest time of several, after one that does not count: that allocates, and loads code.
    fn best(&self, once: &mut dyn FnMut() -> Result<()>) -> Result<Duration> {
        once()?;
        let mut best = Duration::MAX;
        for round in 0..ROUNDS {
            let start = Instant::now();
            if round > 0 && start > self.until {
                break;
            }
            once()?;
            best = best.min(start.elapsed());
        }
        Ok(best)
    }

    /// Nanoseconds of one of many small operations in a row.
    fn launch(&self) -> Result<u64> {
        let mut x = self.rt.buffer::<u32, 1>(64)?;
        let time = self.best(&mut || {
            (0..LAUNCHES).try_for_each(|k| self.q.fill(&mut x, k).map(drop))?;
            self.q.wait()
        })?;
        Ok((nanos(time) / u64::from(LAUNCHES)).max(1))
    }

    /// Bytes that move in a microsecond between two buffers of so many bytes.
    fn rate(&self, bytes: usize, launch_ns: u64) -> Result<u64> {
        let (mut x, mut y) = (self.rt.buffer::<u8, 1>(bytes)?, self.rt.buffer::<u8, 1>(bytes)?);
        self.q.fill(&mut x, 1)?;
        let time = self.best(&mut || {
            self.q.copy(&x, &mut y)?;
            self.q.wait()
        })?;
        let ns = nanos(time).saturating_sub(launch_ns).max(1);
        Ok((2000 * bytes as u64 / ns).max(1))
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A driver's update may change what it takes, so it is measured again.
fn key_of(info: &DeviceInfo) -> Key {
    let DeviceInfo { name, driver, uuid, compute_units, memory, kind, .. } = info;
    Key::new("costs of fusion")
        .with(name)
        .with(driver)
        .with(uuid.unwrap_or_default())
        .with(format!("{kind:?} {compute_units} {memory}"))
}

/// What an earlier call has measured on this machine, if it is there and whole.
pub(crate) fn remembered(info: &DeviceInfo, cache: &Cache) -> Option<Costs> {
    // SAFETY: nothing is stored.
    unsafe { cache.get_or_make(&key_of(info), from_bytes, || Err(())) }.ok()
}

fn to_bytes(costs: &Costs) -> Vec<u8> {
    let Costs { launch_ns, memory_rate, cache_rate, cache_bytes, registers, .. } = *costs;
    let Costs { units, unit_items, unit_local, .. } = *costs;
    let moving = [launch_ns, memory_rate, cache_rate, cache_bytes];
    let units = [registers.into(), units.into(), unit_items.into(), unit_local];
    [moving, units].as_flattened().iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn from_bytes(bytes: &[u8]) -> Option<Costs> {
    let (all, []) = bytes.as_chunks::<8>() else { return None };
    let number = |bytes: [u8; 8]| u64::from_le_bytes(bytes);
    let all = <&[[u8; 8]; 8]>::try_from(all).ok()?.map(number);
    let [launch_ns, memory_rate, cache_rate, cache_bytes, registers, units, unit_items, unit_local] =
        all;
    Some(Costs {
        launch_ns,
        memory_rate,
        cache_rate,
        cache_bytes,
        registers: u32::try_from(registers).ok()?,
        units: u32::try_from(units).ok()?,
        unit_items: u32::try_from(unit_items).ok()?,
        unit_local,
    })
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use super::*;
    use crate::engine::null::Null;

    /// FUSE-10: what is found is on disk, once. A later runtime plans by it without being asked to
    /// measure; before that, and without the disk, plans go by usual costs.
    #[test]
    fn costs_are_measured_once_and_remembered() {
        let directory = std::env::temp_dir().join(format!("folio-costs-{}", std::process::id()));
        // SAFETY: the test's own directory.
        let cache = unsafe { Cache::at(&directory) };
        let open = || Runtime::builder().backend(Null::new(1)).build().unwrap();
        let rt = open();
        let device = rt.device("null:0").unwrap();
        let usual = default_costs(device.info());
        assert_eq!(device.fusion_costs_in(&|| cache.clone()), usual);
        let found = device.measure_fusion_costs_in(&cache).unwrap();
        assert_eq!(device.fusion_costs_in(&|| cache.clone()), found);
        assert_ne!(found, usual);
        let counts = cache.counts();
        for _ in 0..2 {
            let rt = open();
            let device = rt.device("null:0").unwrap();
            for _ in 0..2 {
                assert_eq!(device.fusion_costs_in(&|| cache.clone()), found);
            }
            assert_eq!(device.measure_fusion_costs_in(&cache).unwrap(), found);
        }
        let rt = open();
        let device = rt.device("null:0").unwrap();
        assert_eq!(device.fusion_costs_in(&Cache::off), usual);
        let now = cache.counts();
        std::fs::remove_dir_all(directory).unwrap();
        // Each runtime has looked once for its plans, and once for the call.
        assert_eq!((now.made - counts.made, now.found - counts.found), (0, 4));
    }

    #[test]
    fn costs_are_read_back_and_damage_is_seen() {
        let bytes = to_bytes(&Costs::GPU);
        assert_eq!(from_bytes(&bytes), Some(Costs::GPU));
        assert_eq!(
            (from_bytes(&bytes[..63]), from_bytes(&[&bytes[..], &[0; 8]].concat())),
            (None, None)
        );
    }

    /// FUSE-14: the cache is as large as the largest working set that is nearly as fast as the
    /// best.
    #[test]
    fn cache_ends_where_working_sets_become_slow() {
        let costs = |cached: &[(u64, u64)]| {
            let Costs { cache_rate, cache_bytes, .. } = costs_of(7, 100, cached, Costs::CPU);
            (cache_rate, cache_bytes)
        };
        assert_eq!(costs(&[(64, 110), (16, 290), (4, 300)]), (300, 16));
        assert_eq!(costs(&[(64, 290), (16, 300), (4, 120)]), (300, 64));
        assert_eq!(costs(&[(64, 90), (16, 80), (4, 70)]), (100, 0));
    }
}
