import rep from './index.js';

export const {
  Cancelled,
  ConfirmationRequired,
  Declined,
  EngineError,
  Findings,
  InvalidArgument,
  InvalidSkill,
  Library,
  NotFound,
  Refused,
  RepError,
  RunFailed,
  Unable,
  findRep,
} = rep;
export default rep;
