// What the page draws, for test_board_and_graph.py: a board of its own in `place`, and pairs of colors.
({
  board: async (width) => {
    const { Board } = await import('/board.js');
    window.place = document.createElement('div');
    place.style.width = `${width}px`;
    document.body.prepend(place);
    new Board(place, () => {}, { hasCursor: false }).render({
      width: 19, height: 19, rows: ['XO' + '.'.repeat(17), ...Array(18).fill('.'.repeat(19))],
      ownership: Array(361).fill(0.9),
      candidates: [{ x: 3, y: 3, text: '−14.1', brief: '−14', small: '2', loss: 14.1 }],
    });
    return [place.querySelectorAll('.owner-black').length, place.querySelectorAll('.doomed').length];
  },

  contrast: ([one, other]) => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const light = (color) => {
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((each) => each / 255)
        .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const [low, high] = [one, other].map(light).sort((one, other) => one - other);
    return (high + 0.05) / (low + 0.05);
  },

  line: (name) => {
    const line = document.createElementNS('http://www.w3.org/2000/svg', 'polyline');
    line.setAttribute('class', name);
    document.querySelector('#graph').append(line);
    let behind = line.parentNode;
    while (getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') behind = behind.parentNode;
    const colors = [getComputedStyle(line).stroke, getComputedStyle(behind).backgroundColor];
    line.remove();
    return colors;
  },

  ring: () => {
    document.querySelector('#save').disabled = false;
    document.querySelector('#save').focus({ focusVisible: true });
    return [getComputedStyle(document.activeElement).outlineColor, getComputedStyle(document.body).backgroundColor];
  },

  ringOnWood: ([wood, ring]) => {
    document.documentElement.dataset.wood = wood;
    const made = [ring, 'wood'].map((name) => {
      const each = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
      each.setAttribute('class', name);
      return document.querySelector('#board svg').appendChild(each);
    });
    const colors = [getComputedStyle(made[0]).stroke, getComputedStyle(made[1]).fill];
    made.forEach((each) => each.remove());
    return colors;
  },
})
