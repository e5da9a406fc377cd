export { certificateFile, certificateText } from './certificates.ts';
export { makeFolder } from './folders.ts';
export { boolean, contact, integer, list, number, oneOf, text, url, type VariableKind } from './kinds.ts';
export { askResolversAgainSoon } from './resolver-options.ts';
export { readSettings, setting, SettingsError, type Setting, type Settings, type SettingValues } from './settings.ts';
export { unknownVariables, withUnknownVariables, type UnknownVariable } from './unknown-variables.ts';
