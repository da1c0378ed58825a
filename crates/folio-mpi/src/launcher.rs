//! Who has started this process.

/// A program that starts ranks, as far as its variables tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// Whether it is Open MPI's.
    pub is_open_mpi: bool,
    /// How many ranks it has started, if it says so.
    pub ranks: Option<u32>,
}

/// Variables by which launchers tell a process that it is a rank.
const SIGNS: [&str; 4] = ["PMI_RANK", "PMIX_RANK", "PALS_RANKID", "FLUX_TASK_RANK"];

impl Launcher {
    /// The launcher of this process, if there is one.
    pub fn of_this_process() -> Option<Launcher> {
        Launcher::by(|name| std::env::var(name).ok())
    }

    fn by(variable: impl Fn(&str) -> Option<String>) -> Option<Launcher> {
        let number = |name| variable(name)?.parse().ok();
        if let Some(ranks) = number("OMPI_COMM_WORLD_SIZE") {
            return Some(Launcher { is_open_mpi: true, ranks: Some(ranks) });
        }
        let is_rank = SIGNS.iter().any(|sign| variable(sign).is_some());
        is_rank.then(|| Launcher { is_open_mpi: false, ranks: number("PMI_SIZE") })
    }
}

/// The library that the user names.
pub fn named() -> Option<String> {
    std::env::var("FOLIO_MPI").ok().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(variables: &[(&str, &str)]) -> Option<Launcher> {
        Launcher::by(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn launchers_are_known_by_their_variables() {
        assert_eq!(by(&[]), None);
        assert_eq!(by(&[("PMI_SIZE", "4")]), None, "a rank has a number");
        let open = by(&[("OMPI_COMM_WORLD_SIZE", "3"), ("PMIX_RANK", "0")]);
        assert_eq!(open, Some(Launcher { is_open_mpi: true, ranks: Some(3) }));
        let mpich = by(&[("PMI_SIZE", "4"), ("PMI_RANK", "1")]);
        assert_eq!(mpich, Some(Launcher { is_open_mpi: false, ranks: Some(4) }));
        let slurm = by(&[("PMIX_RANK", "1")]);
        assert_eq!(slurm, Some(Launcher { is_open_mpi: false, ranks: None }));
    }
}
