;;; emacs.el --- Drives the set-up for Emacs in batch mode -*- lexical-binding: t -*-

;; REP_FILE is a SKILL.md with one finding that has a fix, REP_CONFIG the directory of `repertoire.el'. Writes what
;; happened to REP_RESULT as JSON.

(require 'json)
(require 'eglot)
(require 'flymake)
(setq eglot-sync-connect 30 eglot-autoshutdown nil eglot-confirm-server-edits nil
      flymake-no-changes-timeout nil make-backup-files nil create-lockfiles nil)
(setq result nil)

(defun wait-until (what condition)
  "Wait until CONDITION returns something. Signal an error about WHAT if it does not."
  (let ((rounds 600) found)
    (while (and (> rounds 0) (not (setq found (funcall condition))))
      (accept-process-output nil 0.1)
      (setq rounds (1- rounds)))
    (or found (error "Waited in vain for %s" what))))

(defun note (key value) (setq result (cons (cons key value) result)))

(condition-case problem
    (progn
      (load (expand-file-name "repertoire.el" (getenv "REP_CONFIG")))
      (find-file (getenv "REP_FILE"))
      (note 'mode (symbol-name major-mode))
      (unless (eglot-managed-p) (call-interactively #'eglot))
      (wait-until "the server" #'eglot-current-server)
      (note 'server (plist-get (eglot--server-info (eglot-current-server)) :name))
      (flymake-mode 1)
      ;; Without a display, no idle timer asks for findings.
      (let ((found (wait-until "a finding" (lambda () (flymake-start) (flymake-diagnostics)))))
        (note 'findings (vconcat (mapcar (lambda (one) (substring-no-properties (flymake-diagnostic-text one))) found)))
        (goto-char (flymake-diagnostic-beg (car found)))
        (note 'line (1- (line-number-at-pos))))
      (let* ((actions (eglot-code-actions (point) nil "quickfix"))
             (fix (seq-find (lambda (action) (eq t (plist-get action :isPreferred))) actions)))
        (note 'fix (plist-get fix :title))
        (eglot-execute (eglot-current-server) fix))
      (save-buffer)
      (note 'fixed (buffer-string))
      (goto-char (point-min))
      (forward-line 2)
      (insert "lic\n")
      (backward-char 1)
      (let* ((data (run-hook-with-args-until-success 'completion-at-point-functions))
             (all (all-completions "lic" (nth 2 data))))
        (note 'completions (vconcat (mapcar #'substring-no-properties all)))))
  (error (note 'problem (error-message-string problem))))
(with-temp-file (getenv "REP_RESULT") (insert (json-encode result)))
(kill-emacs 0)
