;;; repertoire.el --- Repertoire in Emacs with Eglot -*- lexical-binding: t -*-

;; Needs Emacs 29 or newer, whose Eglot is built in, and `rep' in `exec-path'. Load this file from your init file. The
;; server starts in SKILL.md files and in `*.uasp.yaml' files.

;;; Code:

(require 'eglot)

(define-derived-mode repertoire-skill-mode text-mode "Skill"
  "Mode for the SKILL.md of a skill.")

(define-derived-mode repertoire-uasp-mode text-mode "UASP"
  "Mode for UASP files.")

(add-to-list 'auto-mode-alist '("/SKILL\\.md\\'" . repertoire-skill-mode))
(add-to-list 'auto-mode-alist '("\\.uasp\\.yaml\\'" . repertoire-uasp-mode))

(add-to-list 'eglot-server-programs
             '(((repertoire-skill-mode :language-id "markdown")
                (repertoire-uasp-mode :language-id "yaml"))
               . ("rep" "lsp")))

(add-hook 'repertoire-skill-mode-hook #'eglot-ensure)
(add-hook 'repertoire-uasp-mode-hook #'eglot-ensure)

(provide 'repertoire)
;;; repertoire.el ends here
