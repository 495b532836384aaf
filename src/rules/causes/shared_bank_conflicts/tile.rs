//! How the lanes of one access lie in the rows of a tile, and what would spread them over the banks.

use crate::sass::questions::lanes::Lanes;
use crate::threshold::Threshold;

/// Banks of shared memory, each a word wide.
const BANKS: u32 = 32;

/// Bytes of a bank's word.
const WORD: u32 = 4;

/// Bytes that all banks deliver at once, after which the next word is the first bank's again.
const LINE: u32 = BANKS * WORD;

/// How far the wavefronts of an access may be from those that follow from its addresses.
pub(super) const SAME_WAVEFRONTS: Threshold = Threshold {
    what: "difference between the wavefronts of an access and those that follow from the addresses worked out for its \
           lanes, for the hint to name a padding, less than",
    value: 1.0,
    unit: "wavefront",
    source: "derivation: wavefronts are whole, so that lanes that lie in another way take at least one more or less",
};

/// Rows on which the lanes of a warp fall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tile {
    /// How many of them.
    pub rows: u32,
    /// Lanes on each.
    pub lanes: u32,
    /// Bytes from one row to the next.
    pub pitch: u32,
    /// Bytes by which each row would have to be longer; `None` where no padding spreads the lanes.
    pub padding: Option<u32>,
    /// By how many bits the row is to be shifted before it is combined with the column by XOR, in units of the
    /// lanes on a row; `None` where that does not spread them either.
    pub swizzle: Option<u32>,
}

impl Tile {
    /// The rows of lanes at these addresses, which move so many bytes each; `None` where they are in one row, or in
    /// no rows.
    pub(super) fn of(addresses: &Lanes, width: u32) -> Option<Self> {
        let start = *addresses.iter().min()?;
        let from_start = addresses.map(|address| address - start);
        let mut places = from_start.to_vec();
        places.sort_unstable();
        places.dedup();
        let follows = |pair: &[u32]| pair[1] - pair[0] == width;
        let rows: Vec<u32> = std::iter::once(0)
            .chain(places.windows(2).filter(|pair| !follows(pair)).map(|pair| pair[1]))
            .collect();
        let pitch = rows.iter().fold(0, |pitch, &row| divisor(pitch, row));
        let count = u32::try_from(rows.len()).ok()?;
        let lanes = u32::try_from(places.len()).ok()? / count;
        let is_tile = count > 1 && pitch >= lanes * width && pitch.is_multiple_of(width);
        // The last lane of each row, where all rows are alike.
        let are_alike =
            || rows.iter().all(|row| places.contains(&row.wrapping_add((lanes - 1) * width)));
        if !is_tile || lanes * count != u32::try_from(places.len()).ok()? || !are_alike() {
            return None;
        }
        let least = least_wavefronts(width);
        let is_spread = |place: &dyn Fn(u32, u32) -> u32| {
            wavefronts(&from_start.map(|at| place(at / pitch, at % pitch)), width) == least
        };
        let mut paddings = (1..LINE / width).map(|units| units * width);
        let padding = paddings.find(|&by| {
            is_spread(&|row, column| row.wrapping_mul(pitch.wrapping_add(by)).wrapping_add(column))
        });
        let unit = width * lanes;
        let swizzled = |row: u32, column: u32, by: u32| {
            (row * pitch).wrapping_add(column ^ ((row >> by).wrapping_mul(unit) % LINE.min(pitch)))
        };
        let is_whole = pitch.is_power_of_two() && unit.is_power_of_two();
        let mut shifts = (0..BANKS.ilog2()).filter(|_| is_whole);
        let swizzle = shifts.find(|&by| is_spread(&|row, column| swizzled(row, column, by)));
        Some(Self { rows: count, lanes, pitch, padding, swizzle })
    }
}

/// Wavefronts that lanes at these addresses take: a quarter of the warp at a time where each moves 16 bytes, half of
/// it where each moves 8, and as many for each as different words meet in one bank.
pub(super) fn wavefronts(addresses: &Lanes, width: u32) -> u32 {
    let words = width.div_ceil(WORD).max(1);
    let at_once = (BANKS / words).max(1) as usize;
    let of_lanes = |lanes: &[u32]| {
        let words = lanes.iter().flat_map(|at| (0..words).map(move |word| at / WORD + word));
        let mut words: Vec<u32> = words.collect();
        words.sort_unstable();
        words.dedup();
        let in_bank = |bank: u32| words.iter().filter(|word| *word % BANKS == bank).count();
        (0..BANKS).map(in_bank).max().unwrap_or(0)
    };
    addresses.chunks(at_once).map(of_lanes).map(|most| u32::try_from(most).unwrap_or(BANKS)).sum()
}

/// Wavefronts of 32 lanes that each find banks of their own.
fn least_wavefronts(width: u32) -> u32 {
    width.div_ceil(WORD).max(1)
}

/// Lanes that are served at a time.
pub(super) fn at_once(width: u32) -> u32 {
    BANKS / least_wavefronts(width)
}

/// The greatest common divisor; of 0 and another number the other.
fn divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(of: impl Fn(u32) -> u32) -> Lanes {
        std::array::from_fn(|lane| of(u32::try_from(lane).unwrap()))
    }

    fn reversed(lane: u32) -> u32 {
        lane.reverse_bits() >> 27
    }

    #[test]
    fn words_of_one_bank_take_a_wavefront_each() {
        assert_eq!(wavefronts(&lanes(|lane| 4 * lane), 4), 1);
        assert_eq!(wavefronts(&lanes(|lane| 128 * lane), 4), 32);
        assert_eq!(wavefronts(&lanes(|_| 64), 4), 1, "one word for all");
        assert_eq!(wavefronts(&lanes(|lane| 32 * lane), 4), 8);
        // As measured in bitpermute: 4 and 32.
        assert_eq!(wavefronts(&lanes(|lane| 8 * reversed(lane)), 8), 4);
        assert_eq!(wavefronts(&lanes(|lane| 256 * reversed(lane)), 16), 32);
    }

    #[test]
    fn a_column_is_padded_by_as_much_as_a_lane_moves() {
        for width in [4, 8, 16] {
            let tile = Tile::of(&lanes(|lane| 512 * lane), width).unwrap();
            assert_eq!((tile.rows, tile.lanes, tile.pitch), (32, 1, 512));
            assert_eq!((tile.padding, tile.swizzle), (Some(width), Some(0)), "{width}");
        }
        let short = Tile::of(&lanes(|lane| 32 * lane), 4).unwrap();
        assert_eq!((short.pitch, short.padding), (32, Some(4)), "a row of 8 floats per thread");
    }

    #[test]
    fn several_rows_are_padded_by_their_lanes() {
        let tile = Tile::of(&lanes(|lane| 512 * (lane % 4) + 4 * (lane / 4)), 4).unwrap();
        assert_eq!((tile.rows, tile.lanes, tile.pitch), (4, 8, 512));
        assert_eq!((tile.padding, tile.swizzle), (Some(32), Some(0)));
    }

    #[test]
    fn reversed_rows_are_spread_by_no_padding() {
        let tile = Tile::of(&lanes(|lane| 256 * reversed(lane)), 16).unwrap();
        assert_eq!((tile.padding, tile.swizzle), (None, Some(2)));
    }

    #[test]
    fn one_row_is_no_tile() {
        assert_eq!(Tile::of(&lanes(|lane| 8 * reversed(lane)), 8), None);
        assert_eq!(Tile::of(&lanes(|_| 8), 8), None);
    }
}
