// One door to the timeline's marks, so that every list and legend draws the same shapes as the canvas.
export { OutcomeMark } from '#renderer/features/timeline/index.ts';
