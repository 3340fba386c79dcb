/*
 * policy_path.c - what rules know of paths.
 */
#include "core/policy/policy.h"

#include <assert.h>
#include <string.h>

enum { FOLDERS_MAX = 4 }; /* components of two stars that may be none */

/* ---- One spelling -------------------------------------------------------- */

wend_str policy_path(wend_str path, wend_str root, char *out, size_t size)
{
    wend_str rest = path, part;
    size_t len = 0;

    assert(size > 1);
    if (path.len && path.ptr[0] == '/') {
        if (root.len && path.len >= root.len &&
            !memcmp(path.ptr, root.ptr, root.len) &&
            (path.len == root.len || path.ptr[root.len] == '/'))
            rest = str_skip(path, root.len);
        else
            out[len++] = '/';
    }
    while (str_take(&rest, '/', &part)) {
        if (!part.len || str_is(part, "."))
            continue;
        if (str_is(part, "..") && len && out[len - 1] != '/' &&
            !(len >= 2 && !memcmp(out + len - 2, "..", 2) &&
              (len == 2 || out[len - 3] == '/'))) {
            while (len && out[len - 1] != '/')
                len--;
            len -= len > 1;
            continue;
        }
        if (len + part.len + 2 > size)
            return STR_NONE;
        if (len && out[len - 1] != '/')
            out[len++] = '/';
        memcpy(out + len, part.ptr, part.len);
        len += part.len;
    }
    if (!len)
        out[len++] = '.';
    return (wend_str){out, len};
}

bool path_is_outside(wend_str path)
{
    assert(path.len);
    return path.ptr[0] == '/' || str_is(path, "..") || str_starts(path, "../");
}

/* ---- Places -------------------------------------------------------------- */

/* A row does not mean templates and public halves of keys. */
enum { PLACE_MODEL = 4 };

/* A glob fits components that follow each other, wherever they begin, and
 * what lies beneath them. Lower case; a star stays within its component. Among
 * them are the short name of .git on FAT, and what lies beside a store. */
static const struct place_row {
    unsigned kinds;
    const char *what;
    const char *globs; /* with spaces between them */
} places[] = {
    {PLACE_CODE, "version control",
     ".git git~1 ?*.git/config ?*.git/hooks .hg .svn .gitconfig "
     ".config/git"},
    {PLACE_CODE, "a hook",
     ".husky .githooks .git-hooks .hooks .pre-commit-config.y*ml "
     ".pre-commit-hooks.y*ml lefthook*.y*ml .lefthook* .overcommit.y*ml"},
    {PLACE_CODE, "a CI definition",
     ".github/workflows .github/actions .forgejo/workflows "
     ".gitea/workflows .gitlab-ci.y*ml .gitlab/ci .circleci .travis.y*ml "
     "jenkinsfile* .azure-pipelines* azure-pipelines*.y*ml "
     "bitbucket-pipelines.y*ml .drone.y*ml .woodpecker* .buildkite .builds "
     ".build.y*ml .cirrus.y*ml .semaphore .teamcity *appveyor.y*ml "
     "buildspec*.y*ml cloudbuild*.y*ml"},
    {PLACE_CODE, "an editor's settings",
     ".vscode .vs .idea .fleet .zed .cursor .mcp.json .devcontainer* "
     "*.code-workspace *.sublime-project .vim* .gvimrc .nvim* .lvimrc "
     ".exrc .config/nvim .emacs* .dir-locals*.el"},
    {PLACE_CODE, "a shell's start file",
     ".bash* .profile .zsh* .zprofile .zlogin .zlogout .login .logout "
     ".cshrc .tcshrc .kshrc .mkshrc .shrc .shinit .inputrc .direnv .envrc* "
     ".mise* mise*.toml .config/fish .config/mise"},
    {PLACE_CODE, "a program's start file",
     ".xinitrc .xprofile .xsession* .pam_environment .config/autostart "
     ".config/systemd .config/environment.d .local/bin .gdbinit .lldbinit "
     ".pythonrc* .pdbrc* .irbrc .pryrc .rprofile .psqlrc .sqliterc "
     ".screenrc .tmux.conf .npmrc .yarnrc* .cargo/config*"},
    {PLACE_CODE, "notes for models", "agents.md claude.md wend.md"},
    {PLACE_CODE, "a file of wend",
     "wend.y*ml .config/wend .local/share/wend *.db *.db-*"},
    {PLACE_CODE | PLACE_SECRET, "keys", ".ssh .gnupg"},
    {PLACE_SECRET | PLACE_MODEL, "secrets", ".env*"},
    {PLACE_SECRET | PLACE_MODEL, "a key",
     "id_rsa* id_dsa* id_ecdsa* id_ed25519*"},
    {PLACE_SECRET, "a key",
     "*.pem *.key *.p12 *.pfx *.ppk *.jks *.keystore *.kdbx"},
    {PLACE_SECRET, "a password",
     ".netrc _netrc .pgpass .my.cnf .htpasswd .pypirc .git-credentials "
     ".vault-token .aws/credentials .azure .kube/config "
     ".docker/config.json .config/gcloud .config/gh/hosts.yml"},
};

/* The component at *at, without what some file systems drop at its end;
 * *at goes behind it and its slash. */
static wend_str next_part(wend_str path, size_t *at)
{
    const char *slash = memchr(path.ptr + *at, '/', path.len - *at);
    size_t end = slash ? (size_t)(slash - path.ptr) : path.len;
    wend_str part = {path.ptr + *at, end - *at};

    *at = slash ? end + 1 : end;
    while (part.len > 1 && strchr(". ", part.ptr[part.len - 1]))
        part.len--;
    return part;
}

static bool part_fits(wend_str glob, wend_str part)
{
    return str_glob_as(glob, part, GLOB_ANY_CASE);
}

/* An example to copy, or the half of a key that others may see. */
static bool is_model(wend_str part)
{
    static const char *const globs[] = {"*.example", "*.sample", "*.template",
                                        "*.pub"};

    for (size_t i = 0; i < sizeof globs / sizeof *globs; i++)
        if (part_fits(str_of(globs[i]), part))
            return true;
    return false;
}

/* Up to where a glob of the row fits that begins at `at`; 0: it does not.
 * *reach: what of that a rule must spell out. */
static size_t row_fits(const struct place_row *row, wend_str glob,
                       wend_str path, size_t at, size_t *reach)
{
    wend_str want = STR_NONE, part = STR_NONE;
    size_t in_glob = 0, literal;

    while (in_glob < glob.len) {
        if (at == path.len)
            return 0;
        want = next_part(glob, &in_glob);
        part = next_part(path, &at);
        if (!part_fits(want, part))
            return 0;
    }
    if ((row->kinds & PLACE_MODEL) && is_model(part))
        return 0;
    literal = glob_literal(want);
    /* `.env*` is named by `.env`, but `*.pem` only by the whole name. */
    *reach = (size_t)(part.ptr - path.ptr) +
             (literal + 1 == want.len ? literal : part.len);
    return at;
}

static void find_row(const struct place_row *row, wend_str path, size_t at,
                     unsigned kinds, struct spot *found)
{
    wend_str globs = str_of(row->globs), glob;
    size_t reach;

    while (str_take(&globs, ' ', &glob)) {
        if (!row_fits(row, glob, path, at, &reach))
            continue;
        if (!found->kinds)
            found->what = row->what;
        found->kinds |= row->kinds & kinds;
        found->reach = reach > found->reach ? reach : found->reach;
    }
}

struct spot path_place(wend_str path, unsigned kinds)
{
    struct spot found = {0};

    for (size_t at = 0; at < path.len; next_part(path, &at))
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
            if (places[i].kinds & kinds)
                find_row(&places[i], path, at, kinds, &found);
    return found;
}

/* ---- Patterns ------------------------------------------------------------ */

size_t glob_literal(wend_str pattern)
{
    size_t i = 0;

    while (i < pattern.len && pattern.ptr[i] != '*' && pattern.ptr[i] != '?')
        i++;
    return i;
}

/* A component of two stars from `from` on; pattern.len if there is none. */
static size_t any_folders(wend_str pattern, size_t from)
{
    for (size_t i = from; i + 3 <= pattern.len; i++)
        if ((!i || pattern.ptr[i - 1] == '/') &&
            !memcmp(pattern.ptr + i, "**/", 3))
            return i;
    return pattern.len;
}

/* Each component of two stars is tried as it is, and left out. */
static bool fits_whole(wend_str pattern, size_t from, wend_str path, int depth)
{
    size_t at = depth < FOLDERS_MAX ? any_folders(pattern, from) : pattern.len;
    char rest[PATH_BYTES];

    if (at == pattern.len || pattern.len > sizeof rest)
        return str_glob(pattern, path);
    if (fits_whole(pattern, at + 3, path, depth + 1))
        return true;
    memcpy(rest, pattern.ptr, at);
    memcpy(rest + at, pattern.ptr + at + 3, pattern.len - at - 3);
    return fits_whole((wend_str){rest, pattern.len - 3}, at, path, depth + 1);
}

bool path_fits(wend_str pattern, wend_str path, bool beneath)
{
    if (fits_whole(pattern, 0, path, 0))
        return true;
    while (beneath && path.len) {
        while (path.len && path.ptr[path.len - 1] != '/')
            path.len--;
        while (path.len && path.ptr[path.len - 1] == '/')
            path.len--;
        if (path.len && fits_whole(pattern, 0, path, 0))
            return true;
    }
    return false;
}
