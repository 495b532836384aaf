use std::collections::HashSet;

use png::Decoder;

use super::*;

/// What a picture's file says: its size, its pixels from the left and from above, and its texts.
struct Read {
    width: u32,
    height: u32,
    pixels: Vec<[u8; 3]>,
    texts: Vec<(String, String)>,
}

impl Read {
    fn of(bytes: &[u8]) -> Self {
        let mut reader = Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut buffer).unwrap();
        assert_eq!(
            (frame.color_type, frame.bit_depth),
            (png::ColorType::Rgb, png::BitDepth::Eight)
        );
        let texts = reader.info().utf8_text.iter();
        let texts = texts.map(|text| (text.keyword.clone(), text.get_text().unwrap())).collect();
        let pixels = buffer.chunks_exact(3).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
        Self { width: frame.width, height: frame.height, pixels, texts }
    }

    fn at(&self, x: u32, y: u32) -> [u8; 3] {
        self.pixels[(y * self.width + x) as usize]
    }

    /// The smallest rectangle around all that is not paper: left, top, right, bottom.
    fn drawn(&self) -> [u32; 4] {
        let inked = (0..self.height).flat_map(|y| (0..self.width).map(move |x| (x, y)));
        let inked: Vec<(u32, u32)> = inked.filter(|(x, y)| self.at(*x, *y) != WHITE).collect();
        let (x, y) = (inked.iter().map(|at| at.0), inked.iter().map(|at| at.1));
        [x.clone().min().unwrap(), y.clone().min().unwrap(), x.max().unwrap(), y.max().unwrap()]
    }
}

const WHITE: [u8; 3] = [255; 3];
const RED: [u8; 3] = [255, 0, 0];
const BLUE: [u8; 3] = [0, 0, 255];

fn chart(style: &str, drawn: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"50\"><title>Name</title><desc>µ said</desc>\
         <style>{style}</style>{drawn}</svg>"
    )
}

fn read(style: &str, drawn: &str, scale: u8) -> Read {
    Read::of(&png(&chart(style, drawn), scale).unwrap())
}

#[test]
fn a_picture_is_as_large_as_asked_and_says_what_it_shows() {
    for scale in [1, 3] {
        let read = read("", "", scale);
        assert_eq!((read.width, read.height), (100 * u32::from(scale), 50 * u32::from(scale)));
        assert!(read.pixels.iter().all(|pixel| *pixel == WHITE));
        let texts = [("Title", "Name"), ("Description", "µ said")];
        assert_eq!(read.texts, texts.map(|(name, text)| (name.to_owned(), text.to_owned())));
    }
}

#[test]
fn shapes_have_their_places_and_colours() {
    let read = read(
        ".a { fill: #ff0000; } .b { stroke: #0000ff; stroke-width: 2; shape-rendering: crispEdges; }",
        "<svg x='50%' y='10' width='50%' height='20'><rect class='a' width='50%' height='50%'/></svg>\
         <line class='b' x1='0' x2='40' y1='41' y2='41'/>",
        2,
    );
    // The rectangle is 25 by 10 at (50, 10), the line from y 40 to 42; two pixels each.
    assert_eq!([read.at(100, 20), read.at(149, 39)], [RED; 2]);
    assert_eq!([read.at(99, 20), read.at(150, 39), read.at(149, 40), read.at(100, 19)], [WHITE; 4]);
    assert_eq!([read.at(0, 80), read.at(79, 83)], [BLUE; 2]);
    assert_eq!([read.at(0, 79), read.at(80, 82), read.at(79, 84)], [WHITE; 3]);
}

#[test]
fn half_opaque_ink_lets_the_paper_through() {
    let read = read(
        ".a { fill: #ff0000; fill-opacity: 0.5; }",
        "<rect class='a' width='10' height='10'/>",
        1,
    );
    let pixel = read.at(5, 5);
    assert!(pixel[0] == 255 && (126..=129).contains(&pixel[1]) && pixel[1] == pixel[2]);
}

#[test]
fn texts_stand_on_their_line_and_end_where_they_should() {
    let style = "text { font-size: 20px; } .end { text-anchor: end; }";
    let of = |text: &str| read(style, text, 2).drawn();
    let [left, top, _, bottom] = of("<text x='10' y='40'>Hx</text>");
    // From x 10 and above y 40, two pixels each; a capital is 14 high.
    assert!(
        (20..=26).contains(&left) && (78..=80).contains(&bottom) && (48..=54).contains(&top),
        "{left} {top} {bottom}"
    );
    let [_, _, right, _] = of("<text class='end' x='100%' y='40' dx='-10'>Hx</text>");
    assert!((174..=180).contains(&right), "{right}");
    let wide = |text: &str| {
        let [left, _, right, _] = of(text);
        right - left
    };
    assert!(wide("<text x='10' y='40'>HHH</text>") > 2 * wide("<text x='10' y='40'>H</text>"));
}

#[test]
fn a_halo_lies_below_its_letters() {
    let style = "text { font-size: 40px; font-weight: 600; fill: #ff0000; stroke: #0000ff; stroke-width: 4px; \
                 stroke-linejoin: round; paint-order: stroke; }";
    let read = read(style, "<text x='20' y='45'>I</text>", 1);
    let colours: HashSet<[u8; 3]> = read.pixels.iter().copied().collect();
    assert!(colours.contains(&RED) && colours.contains(&BLUE));
    let count = |colour| read.pixels.iter().filter(|pixel| **pixel == colour).count();
    // The stem of a bold I of 40 is 6 by 28: half of the outline lies over it where it is drawn last.
    assert!(count(RED) > 120, "{}", count(RED));
}

#[test]
fn arrows_point_along_their_line() {
    let drawn = "<defs><marker id='m' viewBox='0 0 8 8' refX='8' refY='4' markerWidth='8' markerHeight='8' orient='auto'>\
                 <path d='M0 0L8 4L0 8z'/></marker></defs>";
    let line = |x2, y2| {
        let drawn =
            format!("{drawn}<line x1='50' x2='{x2}' y1='25' y2='{y2}' marker-end='url(#m)'/>");
        read("path { fill: #ff0000; } line { stroke: #0000ff; }", &drawn, 1)
    };
    // The arrow is 8 long and 8 wide at its foot, and its tip is the end of the line.
    let [left, top, right, bottom] = line(90, 25).drawn();
    assert!(
        left >= 49
            && (88..=90).contains(&right)
            && (20..=22).contains(&top)
            && (27..=29).contains(&bottom)
    );
    assert_eq!(line(90, 25).at(83, 23), RED);
    let [left, top, right, _] = line(50, 5).drawn();
    assert!(
        (4..=6).contains(&top) && (45..=47).contains(&left) && (52..=54).contains(&right),
        "{left} {top} {right}"
    );
    assert_eq!(line(50, 5).at(48, 12), RED);
}

#[test]
fn patterns_are_turned_stripes() {
    let drawn = "<defs><pattern id='p' width='6' height='6' patternUnits='userSpaceOnUse' patternTransform='rotate(45)'>\
                 <rect class='a' width='6' height='6'/><rect class='b' width='3' height='6'/></pattern></defs>\
                 <rect fill='url(#p)' x='10' y='10' width='60' height='30'/>";
    let picture = read(".a { fill: #ff0000; } .b { fill: #0000ff; }", drawn, 2);
    let count = |colour| picture.pixels.iter().filter(|pixel| **pixel == colour).count();
    let (red, blue) = (count(RED), count(BLUE));
    // Half of 120 by 60 each, but for a stripe that begins outside and the pixels on edges.
    assert!(
        (3000..4200).contains(&red) && (3000..4200).contains(&blue) && red + blue < 7200,
        "{red} {blue}"
    );
    // Along the stripes the colour stays; a stripe is 3 wide, 4.2 across at 45 degrees.
    let along = (0..10).map(|step| picture.at(60 + step, 60 - step)).collect::<HashSet<_>>();
    let across = (0..20).map(|step| picture.at(60 + step, 60)).collect::<HashSet<_>>();
    assert!(
        along.len() < across.len() && across.contains(&RED) && across.contains(&BLUE),
        "{along:?} {across:?}"
    );
}

#[test]
fn what_can_not_be_drawn_is_said() {
    for (style, drawn) in [
        ("", "<ellipse/>"),
        ("", "<text>a<tspan>b</tspan></text>"),
        ("", "<rect width='1em' height='5'/>"),
        ("rect { filter: blur(1px) }", "<rect width='1' height='5'/>"),
        ("", "<rect fill='url(#none)' width='5' height='5'/>"),
        ("", "<line x2='5' marker-end='url(#none)'/>"),
    ] {
        let error = png(&chart(style, drawn), 1).unwrap_err().to_string();
        assert!(error.contains("--format svg can"), "{error}");
    }
    let error = png("<svg xmlns='http://www.w3.org/2000/svg' width='40000' height='40000'/>", 1)
        .unwrap_err();
    assert!(error.to_string().contains("1600 million pixels"), "{error}");
}
