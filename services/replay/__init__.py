"""Any match, at any version, for any viewer; files; audits. This service holds no game code."""
