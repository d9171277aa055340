CREATE TABLE visits (
  id INTEGER PRIMARY KEY,
  day TEXT NOT NULL,
  garden TEXT NOT NULL,
  guests INTEGER NOT NULL,
  left_at TEXT
);
CREATE INDEX visits_by_day ON visits (day);
