//! The tools that tests need beyond a Rust toolchain, and how to get them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::cargo::crate_exists;
use crate::process;

/// How a tool is installed.
enum From {
    /// Debian's and Ubuntu's package manager.
    System(&'static [&'static str]),
    /// A wheel from the Python index, unpacked into this folder under `target/`.
    Wheel(&'static str, &'static str),
}

/// A tool that tests need.
struct Tool {
    name: &'static str,
    /// The crate that needs it.
    needed_by: &'static str,
    /// Files of which one, when there, shows that it is installed. `*` stands for anything
    /// within one part of the path; `target:` is the target folder.
    signs: &'static [&'static str],
    from: From,
}

/// The tools. Adding one is adding a row; a row whose crate does not exist yet is passed over.
const TOOLS: &[Tool] = &[
    Tool {
        name: "OpenCL loader",
        needed_by: "folio-model",
        signs: &[
            "/usr/lib/*/libOpenCL.so.1",
            "/usr/lib/libOpenCL.so.1",
            "/usr/lib64/libOpenCL.so.1",
        ],
        from: From::System(&["ocl-icd-libopencl1"]),
    },
    Tool {
        name: "PoCL (OpenCL in software)",
        needed_by: "folio-model",
        signs: &["/etc/OpenCL/vendors/pocl*"],
        from: From::System(&["pocl-opencl-icd"]),
    },
    Tool {
        name: "Vulkan loader",
        needed_by: "folio-vulkan",
        signs: &[
            "/usr/lib/*/libvulkan.so.1",
            "/usr/lib/libvulkan.so.1",
            "/usr/lib64/libvulkan.so.1",
        ],
        from: From::System(&["libvulkan1"]),
    },
    Tool {
        name: "lavapipe (Vulkan in software)",
        needed_by: "folio-vulkan",
        signs: &["/usr/share/vulkan/icd.d/lvp_icd*"],
        from: From::System(&["mesa-vulkan-drivers"]),
    },
    Tool {
        name: "Vulkan validation layer",
        needed_by: "folio-vulkan",
        signs: &["/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"],
        from: From::System(&["vulkan-validationlayers"]),
    },
    Tool {
        name: "Chromium",
        needed_by: "folio-bench-matrix",
        signs: &["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"],
        from: From::System(&["chromium"]),
    },
    Tool {
        name: "spirv-val (validator of SPIR-V)",
        needed_by: "folio-vulkan",
        signs: &["/usr/bin/spirv-val", "/usr/local/bin/spirv-val"],
        from: From::System(&["spirv-tools"]),
    },
    Tool {
        name: "NVRTC (CUDA's compiler)",
        needed_by: "folio-model",
        signs: &["target:nvrtc/nvidia/cuda_nvrtc/lib/libnvrtc.so*"],
        from: From::Wheel("nvidia-cuda-nvrtc-cu12", "nvrtc"),
    },
    Tool {
        name: "Open MPI",
        needed_by: "folio-mpi",
        signs: &["/usr/bin/mpirun.openmpi"],
        from: From::System(&["openmpi-bin"]),
    },
    Tool {
        name: "MPICH",
        needed_by: "folio-mpi",
        signs: &["/usr/bin/mpiexec.mpich"],
        from: From::System(&["mpich"]),
    },
    Tool {
        name: "MPI with the standard interface",
        needed_by: "folio-mpi",
        signs: &["target:mpich/*/data/lib/libmpi_abi.so.1"],
        from: From::Wheel("mpich", "mpich"),
    },
    Tool {
        name: "NumPy",
        // Through `examples/python-extension`, which is no crate of the workspace.
        needed_by: "folio",
        signs: &["target:numpy/numpy/__init__.py"],
        from: From::Wheel("numpy", "numpy"),
    },
];

/// The tools that are needed and not there. With `install`, first installs it.
pub fn run(root: &Path, target: &Path, install: bool) -> Result<Vec<String>> {
    let missing = || missing(root, |tool| is_there(tool, target));
    let before = missing();
    if before.is_empty() {
        println!("setup: nothing is missing");
        return Ok(Vec::new());
    }
    if install {
        install_all(&before, target)?;
    }
    let after = missing();
    for tool in &after {
        println!("missing: {}: {}", tool.name, advice(tool));
    }
    Ok(after.iter().map(|tool| tool.name.to_owned()).collect())
}

/// Prints what [`run`] would install, and how; installs nothing.
pub fn dry_run(root: &Path, target: &Path) {
    let lines = plan(&missing(root, |tool| is_there(tool, target)), has_pip(), target);
    lines.iter().for_each(|line| println!("{line}"));
}

/// The tools that this tree needs and `is_there` does not find.
fn missing(root: &Path, is_there: impl Fn(&Tool) -> bool) -> Vec<&'static Tool> {
    let needed = TOOLS.iter().filter(|tool| crate_exists(root, tool.needed_by));
    needed.filter(|tool| !is_there(tool)).collect()
}

/// A line for each tool, and one for each command.
fn plan(tools: &[&Tool], has_pip: bool, target: &Path) -> Vec<String> {
    if tools.is_empty() {
        return vec!["setup: nothing is missing".to_owned()];
    }
    let (packages, wheels) = sources(tools, has_pip);
    let mut lines: Vec<_> = tools.iter().map(|tool| format!("missing: {}", tool.name)).collect();
    if !packages.is_empty() {
        let what = packages.join(" ");
        lines.push(format!("would run, as root or by sudo: apt-get install {what}"));
    }
    for (wheel, folder) in wheels {
        let into = target.join(folder);
        lines.push(format!("would unpack the Python package {wheel} into {}", into.display()));
    }
    lines
}

fn advice(tool: &Tool) -> String {
    let by_hand = match &tool.from {
        From::System(packages) => format!("apt-get install {}", packages.join(" ")),
        From::Wheel(package, _) => format!("the Python package {package}"),
    };
    format!("{by_hand} (or `cargo xtask test --setup`)")
}

/// A package of the Python index, and the folder that it is unpacked into.
type Wheel = (&'static str, &'static str);

/// The packages of the system, and of the Python index, that have the tools.
fn sources(tools: &[&Tool], has_pip: bool) -> (Vec<&'static str>, Vec<Wheel>) {
    let packages = tools.iter().flat_map(|tool| match &tool.from {
        From::System(packages) => packages.to_vec(),
        From::Wheel(..) => Vec::new(),
    });
    let mut packages: Vec<_> = packages.collect();
    let wheels: Vec<_> = tools
        .iter()
        .filter_map(|tool| match tool.from {
            From::Wheel(package, folder) => Some((package, folder)),
            From::System(_) => None,
        })
        .collect();
    if !wheels.is_empty() && !has_pip {
        packages.push("python3-pip");
    }
    (packages, wheels)
}

fn has_pip() -> bool {
    process::capture(&mut pip(&["--version"])).is_ok()
}

fn install_all(tools: &[&Tool], target: &Path) -> Result<()> {
    let (packages, wheels) = sources(tools, has_pip());
    if !packages.is_empty() {
        system_install(&packages)?;
    }
    wheels.into_iter().try_for_each(|wheel| wheel_install(wheel, target))
}

fn pip(words: &[&str]) -> Command {
    let mut command = Command::new("python3");
    command.args(["-m", "pip"]).args(words);
    command
}

/// Installs with apt, as root or through `sudo` where that asks no password.
fn system_install(packages: &[&str]) -> Result<()> {
    let root = process::capture(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    let apt = |words: &[&str]| {
        let mut command = Command::new(if root { "env" } else { "sudo" });
        if !root {
            command.args(["-n", "env"]);
        }
        command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]).args(words);
        process::show(&mut command)
    };
    if process::capture(Command::new("apt-get").arg("--version")).is_err() {
        println!("setup: this system has no apt-get; nothing installed");
        return Ok(());
    }
    // An update that fails (one broken source) need not keep the packages from being there.
    apt(&["update", "-q"])?;
    let mut words = vec!["install", "-q", "-y", "--no-install-recommends"];
    words.extend(packages);
    if !apt(&words)? {
        println!("setup: apt-get could not install {}", packages.join(" "));
    }
    Ok(())
}

/// Downloads one wheel and unpacks it under the target folder.
fn wheel_install((package, folder): Wheel, target: &Path) -> Result<()> {
    let wheels = target.join("wheels");
    let into = wheels.to_string_lossy().into_owned();
    let words = ["download", "--no-deps", "--only-binary=:all:", "--dest", &into, package];
    if !process::show(&mut pip(&words))? {
        println!("setup: pip could not download {package}");
        return Ok(());
    }
    let stem = package.replace('-', "_");
    for wheel in matching(&wheels, &format!("{stem}-*")) {
        let mut unzip = Command::new("python3");
        unzip.args(["-m", "zipfile", "-e"]).arg(wheel).arg(target.join(folder));
        process::show(&mut unzip)?;
    }
    Ok(())
}

fn is_there(tool: &Tool, target: &Path) -> bool {
    tool.signs.iter().any(|sign| match sign.strip_prefix("target:") {
        Some(inside) => !glob(&target.join(inside)).is_empty(),
        None => !glob(Path::new(sign)).is_empty(),
    })
}

/// Files that fit a path in which parts may have one `*`.
fn glob(pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in pattern.components() {
        let text = part.as_os_str().to_string_lossy().into_owned();
        found = match text.contains('*') {
            true => found.iter().flat_map(|dir| matching(dir, &text)).collect(),
            false => found.iter().map(|dir| dir.join(part)).collect(),
        };
    }
    found.retain(|path| path.exists());
    found
}

fn matching(dir: &Path, pattern: &str) -> Vec<PathBuf> {
    let (head, tail) = pattern.split_once('*').unwrap_or((pattern, ""));
    let fits = |name: &str| name.starts_with(head) && name.ends_with(tail);
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let fitting = entries.filter(|entry| entry.file_name().to_str().is_some_and(fits));
    fitting.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_find_files() {
        let here = crate::tree::root().unwrap().join("xtask");
        assert_eq!(glob(&here.join("s*/set*.rs")), [here.join("src/setup.rs")]);
        assert!(glob(&here.join("*/none")).is_empty());
    }

    #[test]
    fn a_dry_run_says_what_would_be_installed() {
        let root = crate::tree::root().unwrap();
        let lines = plan(&missing(&root, |_| false), false, Path::new("target"));
        let of = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
        assert_eq!([of("missing: "), of("would run"), of("would unpack")], [12, 1, 3], "{lines:?}");
        let packages = "ocl-icd-libopencl1 pocl-opencl-icd libvulkan1 mesa-vulkan-drivers \
                        vulkan-validationlayers chromium spirv-tools openmpi-bin mpich python3-pip";
        assert!(lines.iter().any(|line| line.ends_with(packages)), "{lines:?}");
        assert_eq!(plan(&[], true, Path::new("")), ["setup: nothing is missing"]);
    }

    #[test]
    fn nothing_is_installed_for_crates_that_are_not_there() {
        let nowhere = std::env::temp_dir().join("no-such-workspace");
        assert_eq!(run(&nowhere, &nowhere, true), Ok(Vec::new()));
    }
}
