// The timeline of a run; see README.md.
export { OutcomeMark } from './OutcomeMark.tsx';
export { outcomeCode, outcomeNames, outcomeToken } from './marks.ts';
export { Timeline, type TimelineHandle, type TimelineProps } from './Timeline.tsx';
