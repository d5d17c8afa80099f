// The timeline in a real Chromium: what a pointer does, what is redrawn, what a screen reader is told.
import { StrictMode, type ComponentProps } from 'react';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-react';
import '#renderer/styles/index.css';
import { OutcomeMark, Timeline, type TimelineHandle } from '#renderer/features/timeline/index.ts';
import { outcomes } from '#shared/domain/transition.ts';
import { fakeRun } from './timeline-fake.ts';

type Props = ComponentProps<typeof Timeline>;
const none: ReadonlySet<number> = new Set();

const props = (data: Props['data'], more: Partial<Props> = {}): Props => ({
  data,
  selected: 10,
  focusedObligation: 2,
  hidden: none,
  live: false,
  onSelect: () => {},
  onFocusObligation: () => {},
  ...more,
});
const element = (p: Props) => (
  <StrictMode>
    <div style={{ width: 1168 }}>
      <Timeline {...p} />
    </div>
  </StrictMode>
);

/** Keeps the handle that the timeline gives to its ref. */
function holder() {
  let handle: TimelineHandle | null = null;
  return {
    keep: (h: TimelineHandle | null) => {
      handle = h;
    },
    asHandle: (): TimelineHandle => {
      if (!handle) throw new Error('no handle');
      return handle;
    },
  };
}

async function mount(p: Props) {
  const screen = await render(element(p));
  const plot = screen.container.querySelector<HTMLElement>('[role=slider]');
  if (!plot) throw new Error('no slider');
  const canvases = [...plot.querySelectorAll('canvas')];
  const [main, mini, overlay] = canvases;
  if (!main || !mini || !overlay) throw new Error('three canvases expected');
  await vi.waitFor(() => expect(main.width).toBeGreaterThan(300));
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  await frame();
  const point = (type: string, x: number, y: number, init: PointerEventInit = {}) => {
    const box = plot.getBoundingClientRect();
    plot.dispatchEvent(
      new PointerEvent(type, {
        bubbles: true,
        cancelable: true,
        pointerId: 1,
        isPrimary: true,
        button: 0,
        clientX: box.left + x,
        clientY: box.top + y,
        ...init,
      }),
    );
  };
  return {
    screen,
    plot,
    main,
    mini,
    overlay,
    frame,
    point,
    look: (c: HTMLCanvasElement) => c.toDataURL(),
    show: (next: Props) => screen.rerender(element(next)),
  };
}

beforeEach(() => {
  document.documentElement.dataset['theme'] = 'light';
  // Synthetic pointers cannot be captured; what is tested is what the handlers do.
  vi.spyOn(Element.prototype, 'setPointerCapture').mockImplementation(() => {});
});

describe('timeline', () => {
  test('is a named slider that says in words where it stands', async () => {
    const data = fakeRun(240);
    const n = Array.from({ length: 240 }, (_, i) => i + 1).find((k) => data.outcome(k) === outcomes.indexOf('incomparable')) ?? 0;
    const { screen, plot } = await mount(props(data, { selected: n }));
    await expect.element(screen.getByRole('slider', { name: 'Timeline' })).toBeVisible();
    expect(plot.getAttribute('aria-valuemin')).toBe('1');
    expect(plot.getAttribute('aria-valuemax')).toBe('240');
    expect(plot.getAttribute('aria-valuenow')).toBe(String(n));
    expect(plot.getAttribute('aria-valuetext')).toMatch(new RegExp(`^${n} of 240, incomparable, \\w+ \\d+ to \\d+, \\w+ \\d+ to \\d+`));
    await expect.element(screen.getByRole('listbox', { name: /^Obligations/ })).toBeVisible();
    expect(screen.getByRole('option').elements()).toHaveLength(8);
    await expect.element(screen.getByRole('option', { name: /empty_input/ })).toHaveAttribute('aria-selected', 'true');
  });

  test('a press selects the transition under it, a drag goes on selecting', async () => {
    const onSelect = vi.fn<Props['onSelect']>();
    const { point } = await mount(props(fakeRun(200), { onSelect }));
    point('pointerdown', 502, 90);
    expect(onSelect).toHaveBeenLastCalledWith(101);
    point('pointermove', 522, 90);
    expect(onSelect).toHaveBeenLastCalledWith(105);
    point('pointerup', 522, 90);
    onSelect.mockClear();
    point('pointermove', 600, 90);
    expect(onSelect).not.toHaveBeenCalled();
  });

  test('a press in the matrix also moves the obligation in focus', async () => {
    const onSelect = vi.fn<Props['onSelect']>();
    const onFocusObligation = vi.fn<Props['onFocusObligation']>();
    const { screen, point } = await mount(props(fakeRun(200), { onSelect, onFocusObligation }));
    const option = screen
      .getByRole('option', { name: /nested/ })
      .element()
      .getBoundingClientRect();
    const slider = screen.getByRole('slider').element().getBoundingClientRect();
    point('pointerdown', 302, option.top - slider.top + 10);
    expect(onSelect).toHaveBeenLastCalledWith(61);
    expect(onFocusObligation).toHaveBeenLastCalledWith(4);
    await screen.getByRole('option', { name: /type_errors/ }).click();
    expect(onFocusObligation).toHaveBeenLastCalledWith(7);
  });

  test('a step inside the window repaints the overlay and nothing else, at once', async () => {
    const data = fakeRun(2000);
    const { main, mini, overlay, look, show } = await mount(props(data, { selected: 1000 }));
    const put = vi.spyOn(CanvasRenderingContext2D.prototype, 'putImageData');
    const before = [look(main), look(mini), look(overlay)];
    const at = overlay.getBoundingClientRect().left;
    await show(props(data, { selected: 1001 }));
    expect(overlay.getBoundingClientRect().left).toBeGreaterThan(at + 3);
    expect(overlay.getBoundingClientRect().width).toBeLessThan(130);
    expect([look(main), look(mini)]).toEqual(before.slice(0, 2));
    expect(look(overlay)).not.toBe(before[2]);
    expect(put).not.toHaveBeenCalled();
    put.mockRestore();
  });

  test('a step out of the window brings the selection in', async () => {
    const data = fakeRun(2000);
    const { main, look, show } = await mount(props(data, { selected: 1000 }));
    const before = look(main);
    await show(props(data, { selected: 1500 }));
    expect(look(main)).not.toBe(before);
  });

  test('the wheel zooms without scrolling the page, the handle zooms, pans and fits', async () => {
    const { keep, asHandle } = holder();
    const data = fakeRun(2000);
    const { plot, main, look, frame } = await mount(props(data, { selected: 1000, ref: keep }));
    const looks = [look(main)];
    const wheel = new WheelEvent('wheel', {
      deltaY: 200,
      clientX: plot.getBoundingClientRect().left + 500,
      bubbles: true,
      cancelable: true,
    });
    plot.dispatchEvent(wheel);
    expect(wheel.defaultPrevented).toBe(true);
    for (const act of [() => {}, () => asHandle().pan(0.25), () => asHandle().zoom(0.5), () => asHandle().fit()]) {
      act();
      await frame();
      looks.push(look(main));
    }
    expect(new Set(looks).size).toBe(5);
  });

  test('merged columns are labelled', async () => {
    const { keep, asHandle } = holder();
    const { screen, frame } = await mount(props(fakeRun(2000), { ref: keep }));
    expect(screen.container.textContent).not.toMatch(/column/);
    asHandle().fit();
    await frame();
    await expect.element(screen.getByText(/^8 .*column$/)).toBeVisible();
  });

  test('dragging the window of the minimap moves the view and selects nothing', async () => {
    const onSelect = vi.fn<Props['onSelect']>();
    const { main, point, look, frame } = await mount(props(fakeRun(5000), { selected: 2500, onSelect }));
    const before = look(main);
    point('pointerdown', 500, 10);
    point('pointermove', 700, 10);
    point('pointerup', 700, 10);
    await frame();
    expect(look(main)).not.toBe(before);
    expect(onSelect).not.toHaveBeenCalled();
  });

  test('shift-drag pans', async () => {
    const onSelect = vi.fn<Props['onSelect']>();
    const { main, point, look, frame } = await mount(props(fakeRun(5000), { selected: 2500, onSelect }));
    const before = look(main);
    point('pointerdown', 500, 100, { shiftKey: true });
    point('pointermove', 400, 100, { shiftKey: true });
    await frame();
    expect(look(main)).not.toBe(before);
    expect(onSelect).not.toHaveBeenCalled();
  });

  test('another theme repaints every layer', async () => {
    const { main, mini, overlay, look } = await mount(props(fakeRun(240)));
    const before = [look(main), look(mini), look(overlay)];
    document.documentElement.dataset['theme'] = 'dark';
    await vi.waitFor(() => {
      const after = [look(main), look(mini), look(overlay)];
      for (const [i, l] of after.entries()) expect(l).not.toBe(before[i]);
    });
  });

  test('the height is the same before and after data arrives, and fills what it is given', async () => {
    const { screen, show } = await mount(props(fakeRun(0), { selected: 0 }));
    const height = () => screen.container.querySelector('[role=slider]')?.getBoundingClientRect().height;
    const before = height();
    await show(props(fakeRun(240)));
    expect(height()).toBe(before);
    const tall = await render(
      <div style={{ width: 900, height: 600 }}>
        <Timeline {...props(fakeRun(240))} />
      </div>,
    );
    expect(tall.container.querySelector('[role=slider]')?.getBoundingClientRect().height).toBe(600);
  });

  test('thirty obligations: twelve rows are seen, the one in focus among them', async () => {
    const data = fakeRun(240, 30);
    const { screen, show } = await mount(props(data, { focusedObligation: 0 }));
    const list = screen.getByRole('listbox').element();
    expect(list.clientHeight).toBe(264);
    expect(screen.getByRole('option').elements().length).toBeLessThan(30);
    await show(props(data, { focusedObligation: 25 }));
    const inside = () => {
      const box = list.getBoundingClientRect();
      const option = list.querySelector('[aria-selected=true]')?.getBoundingClientRect();
      return option !== undefined && option.top >= box.top && option.bottom <= box.bottom + 1;
    };
    await vi.waitFor(() => expect(inside()).toBe(true));
    expect(list.querySelector('[aria-selected=true]')?.textContent).toContain('tests/unit/test_intervals.py::test_case_25');
  });

  test('in a low panel the rows that are not seen are counted, the one in focus is seen, nothing is cut off', async () => {
    const data = fakeRun(240, 11);
    const { container, getByText } = await render(
      <div style={{ width: 1168, height: 300 }}>
        <Timeline {...props(data, { focusedObligation: 10 })} />
      </div>,
    );
    await expect.element(getByText('rows 5 to 11 of 11')).toBeVisible();
    const plot = container.querySelector('[role=slider]')?.getBoundingClientRect();
    for (const canvas of container.querySelectorAll('canvas'))
      expect(canvas.getBoundingClientRect().bottom).toBeLessThanOrEqual((plot?.bottom ?? 0) + 1);
    const option = container.querySelector('[aria-selected=true]')?.getBoundingClientRect();
    expect(option?.bottom).toBeLessThanOrEqual(plot?.bottom ?? 0);
  });

  test('beside each row stands its value in the selected transition, not at the head', async () => {
    const data = fakeRun(240);
    const n = Array.from({ length: 240 }, (_, i) => i + 1).find((k) => data.outcome(k) === outcomes.indexOf('incomparable')) ?? 0;
    const { screen } = await mount(props(data, { selected: n }));
    const shown = screen.getByRole('option').elements();
    const rank = data.rank(n);
    const base = data.baseRank(n);
    for (const [i, option] of shown.entries()) {
      const [before, after] = [base[i] ?? 0, rank?.[i] ?? 0];
      expect(option.textContent.endsWith(before === after ? String(after) : `${before} → ${after}`)).toBe(true);
      expect(option.getAttribute('title')).toContain(`base of transition ${n}: ${before}\ncandidate: ${after}\nhead: `);
    }
    expect(shown.filter((option) => option.textContent.includes('→')).length).toBeGreaterThanOrEqual(2);
  });

  test('a live run grows without moving what somebody looks at', async () => {
    const all = fakeRun(3000);
    const upTo = (count: number): Props['data'] => ({ ...all, count });
    const { main, mini, look, show } = await mount(props(upTo(1500), { live: true, selected: 700 }));
    const before = [look(main), look(mini)];
    const more = upTo(1600);
    await show(props(more, { live: true, selected: 700 }));
    expect(look(main)).toBe(before[0]);
    expect(look(mini)).not.toBe(before[1]);
    await show(props(more, { live: true, selected: 1600 }));
    const following = look(main);
    await show(props(upTo(1700), { live: true, selected: 1700 }));
    expect(look(main)).not.toBe(following);
  });

  test('the pointer shows exact values and takes them away again', async () => {
    const data = fakeRun(200);
    const { screen, point } = await mount(props(data));
    point('pointermove', 502, 100);
    await expect.element(screen.getByText(/^101 · /)).toBeVisible();
    screen.container
      .querySelector('[role=slider]')
      ?.dispatchEvent(new PointerEvent('pointerout', { bubbles: true, pointerId: 1, relatedTarget: document.body }));
    await expect.element(screen.getByText(/^101 · /)).not.toBeInTheDocument();
  });
});

test('a mark for lists is a picture only where it stands alone', async () => {
  const screen = await render(
    <div>
      {outcomes.map((outcome) => (
        <OutcomeMark key={outcome} outcome={outcome} />
      ))}
      <OutcomeMark outcome="invalid" label="invalid" />
    </div>,
  );
  expect(screen.container.querySelectorAll('svg[aria-hidden]')).toHaveLength(10);
  await expect.element(screen.getByRole('img', { name: 'invalid' })).toBeVisible();
});
