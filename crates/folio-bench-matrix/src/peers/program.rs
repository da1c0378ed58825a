//! The programs of peers: scripts that this program has within itself, itself, and those of a
//! folder. Scripts are written below the folder of the run, so that a machine needs no checkout.

use crate::error::{Error, Result};
use crate::options::Options;
use crate::record::Device;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The files of the scripts.
const FILES: [(&str, &str); 12] = [
    ("protocol.py", include_str!("../../../../benches/peers/protocol.py")),
    ("with_numpy.py", include_str!("../../../../benches/peers/with_numpy.py")),
    ("with_torch.py", include_str!("../../../../benches/peers/with_torch.py")),
    ("with_cupy.py", include_str!("../../../../benches/peers/with_cupy.py")),
    ("with_jax.py", include_str!("../../../../benches/peers/with_jax.py")),
    ("with_numba.py", include_str!("../../../../benches/peers/with_numba.py")),
    ("with_triton.py", include_str!("../../../../benches/peers/with_triton.py")),
    ("with_warp.py", include_str!("../../../../benches/peers/with_warp.py")),
    ("protocol.cuh", include_str!("../../../../benches/peers/protocol.cuh")),
    ("cub.cu", include_str!("../../../../benches/peers/cub.cu")),
    ("libraries.cu", include_str!("../../../../benches/peers/libraries.cu")),
    ("stf.cu", include_str!("../../../../benches/peers/stf.cu")),
];

/// How a program is started.
#[derive(Clone, Debug)]
enum Kind {
    /// A script, by `python3`.
    Python(&'static str),
    /// A source that nvcc compiles, with these libraries.
    Cuda(&'static str, &'static [&'static str]),
    /// As [`Cuda`](Kind::Cuda), with the headers of a checkout of NVIDIA/cccl.
    Cccl(&'static str),
    /// The matrix itself.
    Own,
    /// A file of the user's.
    File(PathBuf),
}

/// The devices that a program is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum On {
    Cpu,
    Cuda,
    Both,
}

/// A program that measures a library or a family of them.
#[derive(Clone, Debug)]
pub struct Program {
    name: String,
    kind: Kind,
    on: On,
    /// The file of its standard error.
    log: PathBuf,
}

/// The programs of a run: those of this program, and each file of the user's folder.
pub fn all(options: &Options) -> Result<Vec<Program>> {
    let folder = options.out.join("peers");
    std::fs::create_dir_all(&folder).map_err(Error::file("make the folder", &folder))?;
    for (name, text) in FILES {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(Error::file("write", &path))?;
    }
    let own = [
        ("Rust", Kind::Own, On::Cpu),
        ("NumPy", Kind::Python("with_numpy.py"), On::Cpu),
        ("PyTorch", Kind::Python("with_torch.py"), On::Both),
        ("CuPy", Kind::Python("with_cupy.py"), On::Cuda),
        ("JAX", Kind::Python("with_jax.py"), On::Cuda),
        ("Numba", Kind::Python("with_numba.py"), On::Both),
        ("Triton", Kind::Python("with_triton.py"), On::Cuda),
        ("Warp", Kind::Python("with_warp.py"), On::Cuda),
        ("CUB", Kind::Cuda("cub.cu", &[]), On::Cuda),
        (
            "CUDA libraries",
            Kind::Cuda("libraries.cu", &["-lcublas", "-lcufft", "-lcusparse"]),
            On::Cuda,
        ),
        ("CUDASTF", Kind::Cccl("stf.cu"), On::Cuda),
    ];
    let own = own.into_iter().map(|(name, kind, on)| Program::new(name, kind, on, &folder));
    let more = options.peer_dir.as_deref().map_or(Ok(Vec::new()), |dir| of_folder(dir, &folder))?;
    let mut all: Vec<Program> = own.chain(more).collect();
    let is = |program: &Program, name: &String| name.eq_ignore_ascii_case(&program.name);
    if let Some(name) = options.peer.iter().find(|name| !all.iter().any(|one| is(one, name))) {
        let known = all.into_iter().map(|program| program.name).collect();
        return Err(Error::UnknownPeer { name: name.clone(), known });
    }
    let names = &options.peer;
    all.retain(|one| names.is_empty() || names.iter().any(|name| is(one, name)));
    Ok(all)
}

/// The files of a folder, by name.
fn of_folder(dir: &Path, logs: &Path) -> Result<Vec<Program>> {
    let entries = std::fs::read_dir(dir).map_err(Error::file("read", dir))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    let program = |file: PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Program::new(&name, Kind::File(file), On::Both, logs)
    };
    Ok(files.into_iter().map(program).collect())
}

impl Program {
    fn new(name: &str, kind: Kind, on: On, folder: &Path) -> Program {
        let file = name.replace(|c: char| !c.is_ascii_alphanumeric(), "-") + ".log";
        Program { name: name.to_owned(), kind, on, log: folder.join(file) }
    }

    /// A program of the user's.
    #[cfg(test)]
    pub fn of_file(file: &Path, folder: &Path) -> Program {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Program::new(&name, Kind::File(file.to_owned()), On::Both, folder)
    }

    /// Its name, until its answers have a library's.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True for devices whose users could take it: the host's cores, and GPUs by CUDA.
    pub fn fits(&self, device: &Device) -> bool {
        match &*device.backend {
            "cpu" => self.on != On::Cuda,
            "cuda" => self.on != On::Cpu,
            _ => false,
        }
    }

    /// The command that starts it, or why there is none.
    pub fn command(&self, out: &Path) -> std::result::Result<Command, String> {
        let folder = out.join("peers");
        let log = std::fs::File::create(&self.log).map_err(|why| format!("no log: {why}"))?;
        let mut command = match &self.kind {
            Kind::Python(script) => {
                let mut command = Command::new("python3");
                command.arg("-u").arg(folder.join(script));
                command
            }
            Kind::Cuda(source, libraries) => compiled(&folder, source, libraries, &log)?,
            Kind::Cccl(source) => {
                let root = std::env::var("CCCL")
                    .map_err(|_| "CCCL names no checkout of NVIDIA/cccl".to_owned())?;
                let include = ["libcudacxx/include", "cudax/include", "cub", "thrust"];
                let include = include.map(|part| format!("-I{root}/{part}"));
                let words: Vec<&str> = include.iter().map(String::as_str).collect();
                compiled(&folder, source, &[&words, &["-lcuda"][..]].concat(), &log)?
            }
            Kind::Own => {
                let this = std::env::current_exe().map_err(|why| why.to_string())?;
                let mut command = Command::new(this);
                command.arg(super::rust::WORD);
                command
            }
            Kind::File(file) => Command::new(file),
        };
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        Ok(command)
    }

    /// The last line of its standard error.
    pub fn last_words(&self) -> String {
        let text = std::fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let last = text.lines().rev().find(|line| !line.trim().is_empty());
        last.map_or("it said nothing".to_owned(), |line| line.chars().take(300).collect())
    }
}

/// Compiles a source, unless an earlier run has compiled the same text.
fn compiled(
    folder: &Path,
    source: &str,
    words: &[&str],
    log: &std::fs::File,
) -> std::result::Result<Command, String> {
    let (source, program) = (folder.join(source), folder.join(source).with_extension("program"));
    let read = |path: &Path| std::fs::read(path).unwrap_or_default();
    let text = [read(&source), read(&folder.join("protocol.cuh"))].concat();
    let of = program.with_extension("text");
    if program.is_file() && read(&of) == text {
        return Ok(Command::new(program));
    }
    let errors = log.try_clone().map_err(|why| why.to_string())?;
    let mut nvcc = Command::new("nvcc");
    nvcc.args([
        "-O3",
        "-std=c++17",
        "-arch=native",
        "--extended-lambda",
        "--expt-relaxed-constexpr",
    ]);
    nvcc.args(["-w", "-o"]).arg(&program).arg(&source).args(words);
    let status = nvcc.stdout(Stdio::null()).stderr(errors).status();
    match status {
        Ok(status) if status.success() => {
            std::fs::write(&of, text).map_err(|why| why.to_string())?;
            Ok(Command::new(program))
        }
        Ok(_) => Err(format!("nvcc refuses {}", source.display())),
        Err(why) => Err(format!("there is no nvcc: {why}")),
    }
}
