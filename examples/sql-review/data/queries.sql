-- Guests of one day: uses the index.
SELECT sum(guests) FROM visits WHERE day = :day;

-- Breaks its readers when a column is added.
SELECT * FROM visits WHERE guests > 10;

-- Meant: visits that are still going on.
SELECT id FROM visits WHERE left_at = NULL;

-- Closes every visit, not only those of today; the text 'WHERE' does not help.
UPDATE visits SET left_at = 'now; no WHERE';

-- Cannot use an index.
SELECT id FROM visits WHERE garden LIKE '%rose%';
