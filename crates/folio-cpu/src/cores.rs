//! How many cores this process may use, and how many of them are cores and not halves of one.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// Threads of a pool that is told no number: one for each physical core, where the system tells
/// which processors share one. Affinities and quotas of control groups are honoured.
pub(crate) fn threads() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let read = |path: &str| std::fs::read_to_string(path).ok();
    physical(read).map_or(processors, |cores| cores.min(processors)).max(1)
}

/// Physical cores of which this process may use a processor, as Linux tells it.
fn physical(read: impl Fn(&str) -> Option<String>) -> Option<usize> {
    let status = read("/proc/self/status")?;
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let mut cores = BTreeSet::new();
    for processor in list(allowed)? {
        let path = format!("/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list");
        cores.insert(*list(&read(&path)?)?.first()?);
    }
    Some(cores.len()).filter(|&cores| cores > 0)
}

/// `0-3,8` as numbers; none if it is anything else.
fn list(text: &str) -> Option<Vec<usize>> {
    let mut all = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        // No machine has more; a damaged file must not take all memory.
        let is_sane = first <= last && last < 1 << 16;
        all.extend(is_sane.then_some(first..=last)?);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine whose processors `k` and `k + 4` share a core.
    fn machine(allowed: &str) -> impl Fn(&str) -> Option<String> {
        let status = format!("Name:\tx\nCpus_allowed_list:\t{allowed}\nMems_allowed:\t1\n");
        move |path| match path.strip_prefix("/sys/devices/system/cpu/cpu") {
            Some(rest) => {
                let (number, _) = rest.split_once('/')?;
                let number: usize = number.parse().ok().filter(|&number| number < 8)?;
                Some(format!("{},{}\n", number % 4, number % 4 + 4))
            }
            None => Some(status.clone()),
        }
    }

    #[test]
    fn processors_of_one_core_count_once() {
        for (allowed, cores) in [("0-7", 4), ("0-3", 4), ("0,4", 1), ("2-5", 4), ("7", 1)] {
            assert_eq!(physical(machine(allowed)), Some(cores), "{allowed}");
        }
    }

    #[test]
    fn a_system_that_tells_nothing_has_no_answer() {
        assert_eq!(physical(|_| None), None);
        for allowed in ["", "0-", "x", "3-1", "0-99999999", "8"] {
            assert_eq!(physical(machine(allowed)), None, "{allowed}");
        }
    }

    #[test]
    fn threads_are_at_least_one_and_at_most_what_the_process_may_use() {
        let most = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        assert!((1..=most).contains(&threads()));
    }
}
