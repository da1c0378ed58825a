//! Violations of a fused kernel become those of the kernels that it is made of.

use crate::engine::kernels::loaded::LoadedKernel;
use crate::hal::{HalError, HalErrorKind};
use folio_kernel::{Violation, ViolationKind};
use std::sync::Arc;

/// Of which kernels a fused kernel is made. Its places begin with the number of the kernel.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Blame {
    /// Its own name, as the device has it.
    pub(crate) kernel: String,
    /// Their names.
    pub(crate) kernels: Vec<Arc<str>>,
    /// Names of the fused kernel's parameters, with the number of a kernel and its parameter's
    /// name.
    pub(crate) params: Vec<(String, usize, String)>,
}

/// An error of an operation that runs this code. A violation of a fused kernel is the one of its
/// kernel; other errors are as they are.
pub(crate) fn blamed<'c>(
    mut error: HalError,
    code: impl IntoIterator<Item = &'c Arc<LoadedKernel>>,
) -> HalError {
    if let HalErrorKind::Violation(violation) = &mut error.kind {
        let mut blames = code.into_iter().filter_map(|code| code.blame.as_ref());
        if let Some(found) = blames.find_map(|blame| blame.of(violation)) {
            *violation = Arc::new(found);
        }
    }
    error
}

impl Blame {
    /// The violation as one of its kernel, if it is of this fused kernel.
    fn of(&self, violation: &Violation) -> Option<Violation> {
        if violation.kernel != self.kernel {
            return None;
        }
        let mut found = violation.clone();
        let (at, file) = violation.site.file.split_once(':')?;
        let at: usize = at.parse().ok()?;
        found.kernel = self.kernels.get(at)?.to_string();
        file.clone_into(&mut found.site.file);
        if let ViolationKind::OutOfBounds { param: Some(name), .. } = &mut found.kind {
            let mut all = self.params.iter();
            if let Some((.., own)) = all.find(|(of, kernel, _)| of == name && *kernel == at) {
                name.clone_from(own);
            }
        }
        Some(found)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use folio_kernel::Site;

    fn violation(kernel: &str, file: &str, param: &str) -> Violation {
        let param = Some(param.to_owned());
        let kind = ViolationKind::OutOfBounds { param, index: vec![9], extent: vec![4] };
        let site = Site { file: file.to_owned(), line: 3, column: 7, message: None };
        Violation { kernel: kernel.to_owned(), kind, site }
    }

    #[test]
    fn violation_of_a_fused_kernel_names_its_member() {
        let params =
            vec![("p0".to_owned(), 0, "x".to_owned()), ("p0".to_owned(), 1, "y".to_owned())];
        let kernels = ["first", "second"].map(Arc::from).to_vec();
        let blame = Blame { kernel: "both #1".to_owned(), kernels, params };
        let of = |kernel, file| blame.of(&violation(kernel, file, "p0"));
        let found = of("both #1", "1:src/main.rs");
        assert_eq!(found, Some(violation("second", "src/main.rs", "y")));
        assert_eq!(of("other", "1:src/main.rs"), None);
        assert_eq!(of("both #1", "2:src/main.rs"), None, "there are two");
    }
}
