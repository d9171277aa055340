#!/usr/bin/env node
'use strict';

const { spawnSync } = require('node:child_process');
const { findRep } = require('../index.js');

let ended;
try {
  ended = spawnSync(findRep(), process.argv.slice(2), { stdio: 'inherit' });
} catch (error) {
  ended = { error };
}
if (ended.error) {
  console.error(`error: ${ended.error.message}`);
  process.exit(2);
}
if (ended.signal) process.kill(process.pid, ended.signal);
process.exitCode = ended.status ?? 1;
