// One of every reason that an audit has.
import { AuditReason } from '#shared/domain/audit/report.ts';

/** With 2 in place of every count. */
export const auditReasons: readonly AuditReason[] = AuditReason.options.map(({ shape }) => {
  const code = shape.code.value;
  const value = (key: string): unknown => {
    if (key === 'code') return code;
    if (['limited', 'overshoot', 'dimensions'].includes(key)) return ['attempts', 'wallMs'];
    return code === 'advisory_protected' && key === 'keys' ? ['o0', 'o1'] : 2;
  };
  return AuditReason.parse(Object.fromEntries(Object.keys(shape).map((key) => [key, value(key)])));
});
