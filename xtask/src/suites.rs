//! The suites with a budget: random programs, faults, loom models, and what else joins.
//!
//! A suite is an ordinary test named `suite_NAME...`. The test reads `FOLIO_BUDGET_<NAME>_SECS`
//! (how long to go on) and `FOLIO_MIN_<NAME>` (fewer cases is a failure); a soak sets
//! `FOLIO_SOAK_CASES` (how many cases, however long) and `FOLIO_SEED` (case k has seed + k).
//! At its end it prints `suite NAME: 23456 cases in 240.0 s, 0 divergences (seed 1)`.

use std::time::Duration;

use crate::Result;
use crate::backends::{BACKENDS, Backend};

/// How much time the suites get.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Budget {
    /// Seconds; for a look while writing.
    Quick,
    /// The budget of `cargo xtask test`.
    Normal,
    /// The budget of continuous integration.
    Ci,
}

impl Budget {
    /// Reads `quick`, `normal` or `ci`.
    pub fn parse(text: Option<&str>) -> Result<Budget> {
        match text {
            None | Some("normal") => Ok(Budget::Normal),
            Some("quick") => Ok(Budget::Quick),
            Some("ci") => Ok(Budget::Ci),
            Some(other) => Err(format!("--budget is quick, normal or ci, not '{other}'")),
        }
    }
}

/// Seconds to run and fewest cases.
#[derive(Clone, Copy)]
pub struct Share {
    /// Seconds.
    pub secs: u64,
    /// Cases.
    pub min: u64,
}

/// A suite.
pub struct Suite {
    /// Its name in environment variables; in lower case, in the names of tests.
    pub name: &'static str,
    quick: Share,
    normal: Share,
    ci: Share,
    /// Cases of a whole soak.
    pub soak: u64,
    /// Cases of one process of a soak, after which progress is saved.
    pub soak_step: u64,
}

const fn share(secs: u64, min: u64) -> Share {
    Share { secs, min }
}

/// The suites. Adding one is adding a row.
pub const SUITES: &[Suite] = &[
    Suite {
        name: "PROGRAMS",
        quick: share(2, 1),
        normal: share(30, 500),
        ci: share(120, 4_000),
        soak: 1_000_000,
        soak_step: 10_000,
    },
    // A case is a program with one fault; in a soak, with each that it can meet.
    Suite {
        name: "FAULTS",
        quick: share(2, 1),
        normal: share(15, 50),
        ci: share(40, 250),
        soak: 20_000,
        soak_step: 200,
    },
    // Programs of which parts are graphs.
    Suite {
        name: "GRAPHS",
        quick: share(2, 1),
        normal: share(10, 100),
        ci: share(44, 800),
        soak: 200_000,
        soak_step: 10_000,
    },
    // The same on the devices of drivers.
    Suite {
        name: "GRAPHS_OPENCL",
        quick: share(5, 1),
        normal: share(10, 50),
        ci: share(8, 50),
        soak: 10_000,
        soak_step: 1_000,
    },
    Suite {
        name: "GRAPHS_VULKAN",
        quick: share(5, 1),
        normal: share(10, 50),
        ci: share(8, 50),
        soak: 10_000,
        soak_step: 1_000,
    },
    // Graphs, fused and not.
    Suite {
        name: "GRAPHS_FUSED",
        quick: share(2, 1),
        normal: share(10, 100),
        ci: share(22, 400),
        soak: 100_000,
        soak_step: 5_000,
    },
    Suite {
        name: "GRAPHS_FUSED_WIDE",
        quick: share(2, 1),
        normal: share(10, 50),
        ci: share(10, 60),
        soak: 100_000,
        soak_step: 5_000,
    },
    // The same on the devices of drivers: nearly each case compiles kernels.
    Suite {
        name: "GRAPHS_FUSED_WIDE_OPENCL",
        quick: share(5, 1),
        normal: share(10, 1),
        ci: share(5, 1),
        soak: 1_000,
        soak_step: 100,
    },
    Suite {
        name: "GRAPHS_FUSED_WIDE_VULKAN",
        quick: share(5, 1),
        normal: share(10, 1),
        ci: share(5, 1),
        soak: 1_000,
        soak_step: 100,
    },
    Suite {
        name: "GRAPHS_FUSED_OPENCL",
        quick: share(5, 1),
        normal: share(10, 3),
        ci: share(6, 1),
        soak: 1_000,
        soak_step: 100,
    },
    Suite {
        name: "GRAPHS_FUSED_VULKAN",
        quick: share(5, 1),
        normal: share(10, 3),
        ci: share(6, 2),
        soak: 1_000,
        soak_step: 100,
    },
    // Programs and faults on OpenCL's devices, of which each process compiles a few kernels.
    Suite {
        name: "PROGRAMS_OPENCL",
        quick: share(10, 1),
        normal: share(20, 20),
        ci: share(30, 60),
        soak: 200_000,
        soak_step: 2_000,
    },
    Suite {
        name: "FAULTS_OPENCL",
        quick: share(10, 1),
        normal: share(15, 20),
        ci: share(10, 25),
        soak: 4_000,
        soak_step: 50,
    },
    // A case is a runtime that comes and goes; a thousand in one process, or a soak's.
    Suite {
        name: "CYCLES_OPENCL",
        quick: share(10, 1_000),
        normal: share(10, 1_000),
        ci: share(5, 200),
        soak: 10_000,
        soak_step: 10_000,
    },
    Suite {
        name: "EMIT",
        quick: share(2, 1),
        normal: share(15, 3),
        ci: share(15, 2),
        soak: 20_000,
        soak_step: 200,
    },
    Suite {
        name: "NVRTC",
        quick: share(2, 1),
        normal: share(10, 3),
        ci: share(8, 10),
        soak: 20_000,
        soak_step: 500,
    },
    Suite {
        name: "KERNELS",
        quick: share(2, 1),
        normal: share(10, 300),
        ci: share(60, 2_500),
        soak: 500_000,
        soak_step: 10_000,
    },
    // A case is a graph of kernels, fused and not.
    Suite {
        name: "FUSION",
        quick: share(2, 1),
        normal: share(10, 300),
        ci: share(26, 600),
        soak: 100_000,
        soak_step: 10_000,
    },
    // A case is a block of kernels and algorithms, one by one, fused, and in a graph.
    Suite {
        name: "BLOCKS",
        quick: share(2, 1),
        normal: share(10, 20),
        ci: share(10, 20),
        soak: 20_000,
        soak_step: 2_000,
    },
    // A case is a kernel in several forms, each of which OpenCL's driver compiles: three seconds of
    // a slow machine.
    Suite {
        name: "KERNELS_OPENCL",
        quick: share(5, 1),
        normal: share(10, 3),
        ci: share(15, 3),
        soak: 5_000,
        soak_step: 50,
    },
    // The same on Vulkan's devices, whose driver in software compiles for as long.
    Suite {
        name: "PROGRAMS_VULKAN",
        quick: share(10, 1),
        normal: share(20, 10),
        ci: share(30, 20),
        soak: 200_000,
        soak_step: 2_000,
    },
    Suite {
        name: "FAULTS_VULKAN",
        quick: share(10, 1),
        normal: share(15, 5),
        ci: share(10, 4),
        soak: 4_000,
        soak_step: 50,
    },
    Suite {
        name: "CYCLES_VULKAN",
        quick: share(10, 1_000),
        normal: share(10, 1_000),
        ci: share(5, 200),
        soak: 10_000,
        soak_step: 10_000,
    },
    Suite {
        name: "SPIRV",
        quick: share(2, 1),
        normal: share(10, 10),
        ci: share(10, 8),
        soak: 20_000,
        soak_step: 500,
    },
    Suite {
        name: "KERNELS_VULKAN",
        quick: share(5, 1),
        normal: share(10, 3),
        ci: share(15, 8),
        soak: 5_000,
        soak_step: 50,
    },
    // A case is a kernel that rustc compiles, with and without optimisation; as many as asked.
    Suite {
        name: "SOURCE",
        quick: share(60, 2),
        normal: share(60, 10),
        ci: share(50, 2),
        soak: 5_000,
        soak_step: 100,
    },
    // A case is 2^20 arguments of one function; 4096 are all `f32` for it.
    Suite {
        name: "MATH",
        quick: share(2, 2),
        normal: share(10, 18),
        ci: share(8, 40),
        soak: 18 * 4096,
        soak_step: 18 * 64,
    },
    // A case is a program of 40 steps over managed pointers.
    Suite {
        name: "MANAGED",
        quick: share(2, 1),
        normal: share(10, 50),
        ci: share(10, 100),
        soak: 100_000,
        soak_step: 2_000,
    },
    // A case is 1000 command groups; every fourth case is on devices of the same kind.
    Suite {
        name: "SPREAD",
        quick: share(2, 1),
        normal: share(10, 20),
        ci: share(30, 40),
        soak: 20_000,
        soak_step: 500,
    },
    // A case is a program on up to 16 ranks, which are threads.
    Suite {
        name: "RANKS",
        quick: share(2, 1),
        normal: share(10, 4),
        ci: share(20, 10),
        soak: 20_000,
        soak_step: 200,
    },
    Suite {
        name: "ORDER",
        quick: share(2, 4),
        normal: share(5, 4),
        ci: share(5, 100),
        soak: 4_000,
        soak_step: 400,
    },
];

/// Seconds of all loom models together; they are not `suite_` tests but `loom_` tests.
pub const LOOM_SECS: u64 = 90;

/// The time that a test gets beyond its budget before it counts as hanging.
pub const GRACE: Duration = Duration::from_secs(120);
/// The time-out of an ordinary test.
pub const ORDINARY: Duration = Duration::from_secs(60);
/// The time-out of a test that runs the compiler.
pub const COMPILING: Duration = Duration::from_secs(420);

impl Suite {
    /// The suite's share of a budget.
    pub fn share(&self, budget: Budget) -> Share {
        match budget {
            Budget::Quick => self.quick,
            Budget::Normal => self.normal,
            Budget::Ci => self.ci,
        }
    }
}

/// The variables that tell the suites their budgets.
pub fn variables(budget: Budget) -> Vec<(String, String)> {
    let pair = |suite: &Suite| {
        let share = suite.share(budget);
        [
            (format!("FOLIO_BUDGET_{}_SECS", suite.name), share.secs.to_string()),
            (format!("FOLIO_MIN_{}", suite.name), share.min.to_string()),
        ]
    };
    SUITES.iter().flat_map(pair).collect()
}

/// A test's own name, and the backend for which a table has made it: `suite_x` and `cuda` of
/// `a::suite_x::cuda`.
fn name_and_backend(test: &str) -> (&str, Option<&str>) {
    let (path, last) = test.rsplit_once("::").unwrap_or(("", test));
    let begins = |backend: &Backend| last.split('_').next() == Some(backend.name);
    match BACKENDS.iter().any(begins) && !path.is_empty() {
        true => (path.rsplit("::").next().unwrap_or(path), Some(last)),
        false => (last, None),
    }
}

/// A test's own name: the last part of its path that is no backend.
pub fn leaf(test: &str) -> &str {
    name_and_backend(test).0
}

/// True for tests that have a budget.
pub fn is_suite(test: &str) -> bool {
    leaf(test).starts_with("suite_")
}

/// The suite that a test belongs to, the one with the longest name: `a::suite_programs_cpu` is of
/// PROGRAMS. On a driver's devices a suite has a row of its own, or none: `suite_programs::opencl`
/// is of PROGRAMS_OPENCL.
pub fn of_test(test: &str) -> Option<&'static Suite> {
    let (name, backend) = name_and_backend(test);
    let rest = name.strip_prefix("suite_")?.to_ascii_uppercase();
    if let Some(backend) = backend {
        let own = format!("{rest}_{}", backend.to_ascii_uppercase());
        return SUITES.iter().find(|suite| suite.name == own);
    }
    let of = |suite: &&Suite| {
        let more = rest.strip_prefix(suite.name);
        more.is_some_and(|more| more.is_empty() || more.starts_with('_'))
    };
    SUITES.iter().filter(of).max_by_key(|suite| suite.name.len())
}

/// How long a test may take.
pub fn time_limit(test: &str, budget: Budget) -> Duration {
    match of_test(test) {
        Some(suite) => Duration::from_secs(suite.share(budget).secs) + GRACE,
        None if is_suite(test) => COMPILING,
        None if leaf(test).starts_with("compile_") => COMPILING,
        None => ORDINARY,
    }
}

/// A suite's report at its end.
#[derive(Debug, PartialEq)]
pub struct Said {
    /// The suite's name, upper case, without what follows it.
    pub name: String,
    /// Cases run.
    pub cases: u64,
    /// The whole line.
    pub line: String,
}

/// Reads a suite's line.
pub fn parse_line(line: &str) -> Option<Said> {
    let (label, rest) = line.trim().strip_prefix("suite ")?.split_once(':')?;
    let end = label.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(label.len());
    let (count, _) = rest.trim().split_once(" cases")?;
    let plain: String = count.chars().filter(|c| !matches!(c, '_' | ',')).collect();
    Some(Said {
        name: label[..end].to_ascii_uppercase(),
        cases: plain.parse().ok()?,
        line: line.trim().to_owned(),
    })
}

/// Complaints about suites that said too little. Under the CI budget every suite must speak.
pub fn check(said: &[Said], budget: Budget) -> Vec<String> {
    let complain = |suite: &Suite| {
        let lines: Vec<_> = said.iter().filter(|s| s.name == suite.name).collect();
        let cases: u64 = lines.iter().map(|s| s.cases).sum();
        let (name, min) = (suite.name.to_ascii_lowercase(), suite.share(budget).min);
        match (lines.is_empty(), budget) {
            (true, Budget::Ci) => Some(format!("suite {name} did not run")),
            (true, _) => None,
            (false, _) if cases < min => {
                Some(format!("suite {name}: {cases} cases, at least {min} asked"))
            }
            (false, _) => None,
        }
    };
    SUITES.iter().filter_map(complain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_find_their_suites() {
        assert_eq!(of_test("programs::suite_programs_cpu").map(|s| s.name), Some("PROGRAMS"));
        assert_eq!(of_test("suite_faults").map(|s| s.name), Some("FAULTS"));
        let on_opencl = of_test("drivers::suite_programs::opencl");
        assert_eq!(on_opencl.map(|s| s.name), Some("PROGRAMS_OPENCL"));
        assert!(of_test("drivers::suite_programs::cuda").is_none());
        assert!(is_suite("drivers::suite_programs::cuda") && !is_suite("suite_x::programs"));
        assert_eq!(leaf("a::compile_and_pass::opencl_without_svm"), "compile_and_pass");
        assert!(of_test("suite_programsx").is_none());
        assert!(of_test("suite_unknown").is_none() && of_test("programs").is_none());
        assert_eq!(time_limit("suite_programs", Budget::Ci), Duration::from_secs(240));
        assert_eq!(time_limit("a::b", Budget::Ci), ORDINARY);
    }

    #[test]
    fn lines_are_read() {
        let said =
            parse_line("suite programs (cpu): 23_456 cases in 240.0 s, 0 divergences (seed 1)");
        let said = said.unwrap();
        assert_eq!((said.name.as_str(), said.cases), ("PROGRAMS", 23_456));
        let said = parse_line("suite programs_opencl: 7 cases in 1.0 s").unwrap();
        assert_eq!(said.name, "PROGRAMS_OPENCL");
        assert_eq!(parse_line("suite of rooms"), None);
        assert_eq!(parse_line("suite programs: many cases"), None);
    }

    #[test]
    fn too_few_cases_and_silence_are_complaints() {
        let said = |text: &str| vec![parse_line(text).unwrap()];
        let few = check(&said("suite programs: 10 cases in 240.0 s"), Budget::Ci);
        assert_eq!(few.len(), SUITES.len(), "{few:?}");
        assert_eq!(few.iter().filter(|c| c.contains("at least 4000")).count(), 1, "{few:?}");
        assert!(check(&[], Budget::Ci).iter().any(|c| c.contains("did not run")));
        assert!(check(&said("suite programs: 10 cases in 2.0 s"), Budget::Quick).is_empty());
        assert!(check(&[], Budget::Normal).is_empty());
    }

    #[test]
    fn variables_name_the_suites() {
        let all = variables(Budget::Ci);
        let has = |k: &str, v: &str| all.contains(&(k.to_owned(), v.to_owned()));
        assert!(has("FOLIO_BUDGET_PROGRAMS_SECS", "120") && has("FOLIO_MIN_PROGRAMS", "4000"));
    }
}
