//! Docking: the energy of a molecule in many poses before a protein, which is what the mini-app
//! miniBUDE computes, in `f32`.
//!
//! `mini_bude [ITERATIONS] [DECK] [POSES]`: a deck is a folder with miniBUDE's files `protein.in`,
//! `ligand.in`, `forcefield.in`, `poses.in` and `ref_energies.out`, with whose energies the result
//! is compared. Without one, atoms and poses are made up, and the result is compared with what the
//! same kernel computes on the host. `POSES` says how many an item computes.
#![forbid(unsafe_code)]

use folio::prelude::*;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

/// Factor of the energy of charges.
const CHARGES: f32 = 45.0;
/// Energy of two atoms in one place.
const HARDNESS: f32 = 38.0;
/// Distances, beyond the atoms' radii, up to which solvent counts: of two atoms that avoid water,
/// and of one.
const BOTH_AVOID: f32 = 5.5;
const ONE_AVOIDS: f32 = 1.0;
/// Kinds of atoms by their hydrogen bonds.
const FORMAL: i32 = 70;
const EITHER: i32 = 69;

/// An atom with the parameters of its kind.
#[derive(Clone, Copy, Debug, Default, DeviceType)]
#[repr(C, align(16))]
struct Atom {
    x: f32,
    y: f32,
    z: f32,
    radius: f32,
    /// Below zero, the atom avoids water; above, it seeks water.
    solvent: f32,
    charge: f32,
    bond: i32,
    unused: i32,
}

/// An item has `N` poses, which share what is known of two atoms wherever they are. A pose is three
/// angles and a shift. Energies are compared with some digits, so functions are fast ones.
#[kernel(fast)]
fn dock<const N: usize>(
    i: Item,
    protein: In<Atom>,
    ligand: In<Atom>,
    poses: In<[f32; N], 2>,
    energies: OutChunk<f32, N>,
) {
    let n = i.index();
    // By number of the pose, so that a loop over poses is one over neighbours.
    let mut turns = [[0.0f32; N]; 12];
    for k in 0..N {
        let (x, y, z) = (poses[(0, n)][k], poses[(1, n)][k], poses[(2, n)][k]);
        let (sx, cx, sy, cy, sz, cz) = (x.sin(), x.cos(), y.sin(), y.cos(), z.sin(), z.cos());
        turns[0][k] = cy * cz;
        turns[1][k] = sx * sy * cz - cx * sz;
        turns[2][k] = cx * sy * cz + sx * sz;
        turns[3][k] = poses[(3, n)][k];
        turns[4][k] = cy * sz;
        turns[5][k] = sx * sy * sz + cx * cz;
        turns[6][k] = cx * sy * sz - sx * cz;
        turns[7][k] = poses[(4, n)][k];
        turns[8][k] = -sy;
        turns[9][k] = sx * cy;
        turns[10][k] = cx * cy;
        turns[11][k] = poses[(5, n)][k];
    }
    let mut sums = [0.0f32; N];
    for a in 0..ligand.len() {
        let a = ligand[a];
        let (mut x, mut y, mut z) = ([0.0f32; N], [0.0f32; N], [0.0f32; N]);
        for k in 0..N {
            x[k] = turns[3][k] + a.x * turns[0][k] + a.y * turns[1][k] + a.z * turns[2][k];
            y[k] = turns[7][k] + a.x * turns[4][k] + a.y * turns[5][k] + a.z * turns[6][k];
            z[k] = turns[11][k] + a.x * turns[8][k] + a.y * turns[9][k] + a.z * turns[10][k];
        }
        for b in 0..protein.len() {
            let b = protein[b];
            let radius = a.radius + b.radius;
            let hardness = -2.0 * HARDNESS / radius;
            let formal = a.bond == FORMAL && b.bond == FORMAL;
            let (reach, per_reach) = if formal { (4.0f32, 0.25f32) } else { (2.0, 0.5) };
            let either = a.bond == EITHER || b.bond == EITHER;
            let charge = a.charge * b.charge * CHARGES;
            // What seeks water is worth less beside what avoids it.
            let own = if b.solvent > 0.0 && a.solvent < 0.0 { -a.solvent } else { a.solvent };
            let other = if b.solvent < 0.0 && a.solvent > 0.0 { -b.solvent } else { b.solvent };
            let solvent = if b.solvent == 0.0 { 0.0 } else { own + other };
            let avoids = if b.solvent < 0.0 { 1 } else { 0 } + if a.solvent < 0.0 { 1 } else { 0 };
            let shell = if avoids == 2 {
                BOTH_AVOID
            } else if avoids == 1 {
                ONE_AVOIDS
            } else {
                f32::MIN
            };
            let per_shell = 1.0 / shell;
            for k in 0..N {
                let (dx, dy, dz) = (x[k] - b.x, y[k] - b.y, z[k] - b.z);
                let distance = dx.mul_add(dx, dy.mul_add(dy, dz * dz)).sqrt();
                let gap = distance - radius;
                let touch = gap < 0.0;
                let steric = if touch { gap * hardness } else { 0.0 };
                let near = if touch { 1.0 } else { gap.mul_add(-per_reach, 1.0) };
                let electric = if gap < reach { charge * near } else { 0.0 };
                let electric = if either { -electric.abs() } else { electric };
                let wet = if touch { 1.0 } else { gap.mul_add(-per_shell, 1.0) };
                let desolvation = if gap < shell { solvent * wet } else { 0.0 };
                sums[k] += steric + electric + desolvation;
            }
        }
    }
    for k in 0..N {
        energies[i][k] = 0.5 * sums[k];
    }
}

/// What is computed: atoms, the six numbers of each pose behind each other, and known energies.
struct Deck {
    protein: Vec<Atom>,
    ligand: Vec<Atom>,
    poses: Vec<f32>,
    known: Vec<f32>,
}

/// Numbers of four bytes each, of which a record has `N`.
fn records<const N: usize>(path: &Path) -> Result<Vec<[[u8; 4]; N]>, Box<dyn Error>> {
    let bytes = std::fs::read(path).map_err(|why| format!("{}: {why}", path.display()))?;
    let (words, rest) = bytes.as_chunks::<4>();
    let (records, others) = words.as_chunks::<N>();
    if !rest.is_empty() || !others.is_empty() {
        return Err(format!("{} has no records of {N} numbers", path.display()).into());
    }
    Ok(records.to_vec())
}

impl Deck {
    fn read(folder: &Path) -> Result<Deck, Box<dyn Error>> {
        let forces = records::<4>(&folder.join("forcefield.in"))?;
        let atoms = |name: &str| {
            let atoms = records::<4>(&folder.join(name))?.into_iter();
            let with_forces = atoms.map(|[x, y, z, kind]| {
                let [x, y, z] = [x, y, z].map(f32::from_le_bytes);
                let kind = i32::from_le_bytes(kind);
                let force = usize::try_from(kind).ok().and_then(|kind| forces.get(kind));
                let [bond, radius, solvent, charge] =
                    *force.ok_or_else(|| format!("{name} has an atom of kind {kind}"))?;
                let bond = i32::from_le_bytes(bond);
                let [radius, solvent, charge] = [radius, solvent, charge].map(f32::from_le_bytes);
                Ok(Atom { x, y, z, radius, solvent, charge, bond, unused: 0 })
            });
            with_forces.collect::<Result<Vec<Atom>, Box<dyn Error>>>()
        };
        let poses = records::<1>(&folder.join("poses.in"))?.into_iter();
        let known = std::fs::read_to_string(folder.join("ref_energies.out"))?;
        Ok(Deck {
            protein: atoms("protein.in")?,
            ligand: atoms("ligand.in")?,
            poses: poses.map(|[number]| f32::from_le_bytes(number)).collect(),
            known: known.split_whitespace().map(str::parse).collect::<Result<_, _>>()?,
        })
    }

    /// One that is made up: atoms on a lattice.
    fn made_up() -> Deck {
        let atom = |n: usize, spread: f32| {
            let [x, y, z] = [n % 5, n / 5 % 5, n / 25].map(|at| spread * (at as f32 - 2.0));
            let bond = [45, FORMAL, EITHER, 45][n % 4];
            let solvent = [-0.5, 0.0, 0.7][n % 3];
            let charge = [0.4, -0.3, 0.0, 0.1, -0.2][n % 5];
            Atom { x, y, z, radius: 1.2 + 0.1 * (n % 4) as f32, solvent, charge, bond, unused: 0 }
        };
        let count = 1024;
        let number = |at: usize| match at / count {
            part @ 0..3 => (at % count * (part + 7) % 63) as f32 * 0.1,
            part => (at % count * (part + 5) % 41) as f32 * 0.4 - 8.0,
        };
        Deck {
            protein: (0..125).map(|n| atom(n, 2.5)).collect(),
            ligand: (0..20).map(|n| atom(n, 1.3)).collect(),
            poses: (0..6 * count).map(number).collect(),
            known: Vec::new(),
        }
    }

    /// The energies of all poses, `N` by each item, and the seconds of each iteration.
    fn dock<const N: usize>(
        &self,
        q: &Queue,
        iterations: usize,
    ) -> Result<(Vec<f32>, Vec<f64>), Box<dyn Error>> {
        let (rt, count) = (q.runtime(), self.poses.len() / 6);
        let (poses, rest) = self.poses.as_chunks::<N>();
        if !rest.is_empty() || count % N != 0 {
            return Err(format!("the number of poses is no multiple of {N}").into());
        }
        let poses = rt.buffer_from((poses, [6, count / N]))?;
        let (protein, ligand) = (rt.buffer_from(&self.protein)?, rt.buffer_from(&self.ligand)?);
        let mut energies = rt.buffer::<[f32; N], 1>(count / N)?;
        let mut seconds = Vec::new();
        // The first one compiles and copies.
        for _ in 0..=iterations {
            let begin = Instant::now();
            q.run(count / N, dock::<N>(&protein, &ligand, &poses, &mut energies))?.wait()?;
            seconds.push(begin.elapsed().as_secs_f64());
        }
        Ok((energies.to_vec()?.into_iter().flatten().collect(), seconds.split_off(1)))
    }

    /// What the first poses have by the known energies, or by the kernel on the host.
    fn expected(&self) -> folio::Result<Vec<f32>> {
        if !self.known.is_empty() {
            return Ok(self.known.clone());
        }
        let count = self.poses.len() / 6;
        let (poses, _) = self.poses.as_chunks::<1>();
        let mut energies = vec![[0.0]; 64.min(count)];
        let items = energies.len();
        dock::<1>::host(items, &self.protein, &self.ligand, (poses, [6, count]), &mut energies)?;
        Ok(energies.into_iter().flatten().collect())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let iterations = words.first().map_or(Ok(4), |word| word.parse::<usize>())?.max(1);
    let deck = words.get(1).map_or(Ok(Deck::made_up()), |folder| Deck::read(Path::new(folder)))?;
    let rt = folio::runtime()?;
    let q = rt.queue()?;
    // The poses of an item are a CPU's vectors, and share what a GPU reads.
    let usual = if q.device().name().starts_with("cpu") { 64 } else { 2 };
    let each = words.get(2).map_or(Ok(usual), |word| word.parse())?;
    let (energies, mut seconds) = match each {
        1 => deck.dock::<1>(&q, iterations),
        2 => deck.dock::<2>(&q, iterations),
        4 => deck.dock::<4>(&q, iterations),
        8 => deck.dock::<8>(&q, iterations),
        16 => deck.dock::<16>(&q, iterations),
        64 => deck.dock::<64>(&q, iterations),
        _ => Err(format!("items of {each} poses: 1, 2, 4, 8, 16 or 64").into()),
    }?;
    seconds.sort_by(f64::total_cmp);
    let median = seconds[seconds.len() / 2];
    let pairs = energies.len() * deck.protein.len() * deck.ligand.len();
    println!(
        "{} poses, {} and {} atoms: {:.3} ms, {:.2} thousand million pairs of atoms a second",
        energies.len(),
        deck.protein.len(),
        deck.ligand.len(),
        1e3 * median,
        pairs as f64 / median / 1e9
    );
    let apart = |(energy, known): (&f32, &f32)| match known.abs() < 1.0 {
        true => 0.0,
        false => ((energy - known) / known).abs(),
    };
    let most = energies.iter().zip(&deck.expected()?).map(apart).fold(0.0, f32::max);
    println!("at most {:.4} % from what is expected", 100.0 * most);
    if most.is_nan() || most > 2.5e-4 {
        return Err("the energies are wrong".into());
    }
    Ok(())
}
