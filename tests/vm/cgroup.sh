#!/usr/bin/env bash
# cgroup.sh - test_proc_cgroup on a kernel where root can make cgroups: most
# machines that run tests delegate none. Takes about 40 s.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${BUILD:-build/release}
seconds_max=400 # of the machine; a loaded one is slow

skip() {
    echo "1..0 # SKIP $1; tools/deps --all"
    exit 0
}

[ "$(uname -m)" = x86_64 ] || skip "another processor than the kernel's"
command -v qemu-system-x86_64 >/dev/null || skip "no qemu-system-x86_64"
busybox=$(command -v busybox) || skip "no busybox"
perl=$(command -v perl) || skip "no perl"
kernel=${WEND_KERNEL:-$(ls -v /boot/vmlinuz-*-amd64 2>/dev/null | tail -n 1)}
[ -r "$kernel" ] || skip "no kernel in /boot that can be read"

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$root"/{usr/bin,usr/lib,usr/lib64,proc,sys,dev,tmp,etc}
ln -s usr/bin usr/lib usr/lib64 "$root"
echo 'root:x:0:0::/tmp:/bin/sh' >"$root/etc/passwd"

put() { # PROGRAM AS; with the libraries that it needs
    local file
    cp "$1" "$root/usr/bin/$2" || exit 2
    for file in $(ldd "$1" 2>/dev/null | grep -o '/[^ ]*'); do
        mkdir -p "$root$(dirname "$file")"
        [ -e "$root$file" ] || cp -L "$file" "$root$file" || exit 2
    done
}
put "$build/tests/test_proc_cgroup" test_proc_cgroup
put "$build/wend" wend
put "$perl" perl
put /bin/sh sh
put "$busybox" busybox
for name in cat cut dd grep mkdir mount poweroff rm rmdir sleep sync true; do
    ln -s busybox "$root/usr/bin/$name"
done

cat >"$root/init" <<'INIT'
#!/bin/sh
export PATH=/usr/bin HOME=/tmp WEND_STORE=/tmp/wend.db
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
cd /tmp
echo "doctor, none: $(wend doctor | grep ' bounds ')"
mount -t cgroup2 cgroup /sys/fs/cgroup
WEND_CGROUP=1 test_proc_cgroup
echo "exit status $?"
echo "doctor, root: $(wend doctor | grep ' bounds ')"
mkdir /sys/fs/cgroup/full
echo "doctor, full: $(
    echo 0 >/sys/fs/cgroup/full/cgroup.procs
    exec 2>&1
    wend doctor | grep ' bounds ')"
rmdir /sys/fs/cgroup/full
poweroff -f
INIT
chmod +x "$root/init"
(cd "$root" && find . | "$busybox" cpio -o -H newc 2>/dev/null | gzip -1) \
    >"$work/initrd" || exit 2

timeout -k 5 "$seconds_max" qemu-system-x86_64 -accel tcg -m 768 -smp 2 \
    -nodefaults -no-reboot -display none -serial stdio -kernel "$kernel" \
    -initrd "$work/initrd" -append "console=ttyS0 quiet panic=-1" \
    </dev/null 2>&1 | tr -d '\r' >"$work/console"

# The kernel's own lines ([ 1.234] ...) are remarks.
sed '/^1\.\./d; /^ok \|^not ok /!s/^/# /' "$work/console"
checks=$(grep -c '^ok \|^not ok ' "$work/console")
check() { # NAME; the last status says whether it holds
    local status=$?
    checks=$((checks + 1))
    [ $status = 0 ] || printf 'not '
    echo "ok $checks - $1"
}
grep -qx "1\.\.$checks" "$work/console"
check "the test came to its end"
grep -qx 'exit status 0' "$work/console"
check "and holds"
grep -q '^doctor, none: .*no cgroup is delegated' "$work/console"
check "doctor: without cgroups"
grep -q '^doctor, root: .*a cgroup limits' "$work/console"
check "doctor: with a cgroup"
grep -q '^doctor, full: .*no cgroup is delegated' "$work/console"
check "doctor: in one that can have no children"
echo "1..$checks"
