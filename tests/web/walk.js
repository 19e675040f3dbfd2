({
  step(records, draws) {
    const [what, which, other] = draws;
    const pick = (list, share) => list[Math.floor(share * list.length)];
    const root = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document;
    const found = (selector) => [...root.querySelectorAll(selector)].filter((each) => each.checkVisibility() && !each.disabled);
    if (what < 0.1) {
      const transfer = new DataTransfer();
      transfer.items.add(new File([pick(records, which)], 'game.sgf'));
      Object.assign(document.querySelector('#file'), { files: transfer.files });
      document.querySelector('#file').dispatchEvent(new Event('change'));
    } else if (what < 0.3) {
      pick(found('.point'), which)?.dispatchEvent(new PointerEvent('click', { bubbles: true, pointerType: other < 0.5 ? 'mouse' : 'touch' }));
    } else if (what < 0.45) {
      const target = pick([document.body, ...found('.point, svg[role=slider]')], which * which);
      target.dispatchEvent(new KeyboardEvent('keydown', { key: pick(['ArrowLeft', 'ArrowRight', 'ArrowUp', 'PageUp', 'PageDown', 'Home', 'End', 'Enter', '?'], other), bubbles: true }));
    } else if (what < 0.52) {
      const menu = pick(found('select:not(#language, #network)'), which);
      if (menu) {
        menu.value = pick([...menu.options], other).value;
        menu.dispatchEvent(new Event('change', { bubbles: true }));
      }
    } else if (what < 0.56) {
      if (history.state?.id) history.back();
    } else pick(found('button, summary, input[type=checkbox], input[type=radio]'), which)?.click();
  },

  wrong() {
    const text = (selector) => document.querySelector(selector).textContent;
    const cells = [...document.querySelectorAll('#board .point')];
    const [width, height] = ['x', 'y'].map((each) => 1 + Math.max(...cells.map((cell) => Number(cell.dataset[each]))));
    const wrong = [];
    if (cells.length !== width * height) wrong.push(`${cells.length} points on ${width} by ${height}`);
    const onBoard = (vertex) => vertex === 'pass' || ('ABCDEFGHJKLMNOPQRSTUVWXYZ'.indexOf(vertex[0]) < width && Number(vertex.slice(1)) <= height);
    const [moves, graph] = [document.querySelector('#moves'), document.querySelector('#graph')];
    const isGame = !document.body.matches('.solving, .asking') && !document.querySelector('#openings').open;
    if (isGame && !moves.hidden) for (const { cells: [move] } of moves.tBodies[0].rows) if (!onBoard(move.textContent)) wrong.push(`analysis of ${move.textContent} on ${width} by ${height}`);
    const last = Number(text('#number').split('/')[1] ?? 0);
    if (!graph.hidden && Number(graph.firstElementChild.getAttribute('aria-valuemax')) > last) wrong.push(`a graph beyond ${last} moves`);
    if (!moves.hidden !== document.querySelector('#analyse').checked && location.hash) wrong.push('the analysis is on or off, and says the other');
    return wrong;
  },
})
