// The interpreter against the host's own /bin/sh: same output, same status.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "base/text.h"
#include "tests/rehearsal/bench.h"

namespace cupel::rehearsal {
namespace {

Ran real_sh(const std::string& script) {
  const auto line = "cd / && /bin/sh -c " + shell_quoted(script) + " 2>/dev/null </dev/null";
  Ran ran;
  FILE* pipe = ::popen(line.c_str(), "r");
  char buffer[4096];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    ran.out.append(buffer, got);
  const int status = ::pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

const char* const kScripts[] = {
    "echo hello",
    "echo 'a  b' \"c  d\" e\\ f",
    "x=1; echo $x ${x} \"$x\" '$x' \\$x",
    "x='a b c'; for i in $x; do echo \"<$i>\"; done; for i in \"$x\"; do echo \"<$i>\"; done",
    "echo ${unset:-default} ${unset-none} ${HOME:+set} \"${unset:=kept}\" $unset",
    "x=; echo \"[${x:-a}]\" \"[${x-a}]\" \"[${x:+b}]\" \"[${x+b}]\"",
    "f=/a/b/c.tar.gz; echo ${f##*/} ${f%.*} ${f%%.*} ${f#*/} ${#f}",
    "echo $(echo a; echo b) \"$(printf 'x\\ny\\n\\n')\" `echo back \\`echo nested\\``",
    "echo $((1+2*3)) $((10/3)) $((-7%3)) $((1<<4)) $((5>3&&2>1)) $((0x10)) $((3==3?7:8))",
    "i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done",
    "i=0; until [ $i -ge 3 ]; do i=$((i+1)); if [ $i = 2 ]; then continue; fi; echo $i; done",
    "for a in 1 2 3; do for b in x y; do [ $b = y ] && continue 2; echo $a$b; done; done",
    "for i in 1 2 3 4; do if [ $i -eq 3 ]; then break; fi; echo $i; done; echo $?",
    "case abc in x) echo x;; a*) echo star;; *) echo other;; esac",
    "case 'a b' in 'a b'|c) echo yes;; esac; case x in [!a-w]) echo class;; esac",
    "f() { echo \"$1-$2-$#\"; return 3; }; f a 'b c'; echo $?",
    "f() { local x=in; echo $x; }; x=out; f; echo $x",
    "true && echo yes || echo no; false && echo yes || echo no",
    "! true; echo $?; ! false; echo $?",
    "(exit 7); echo $?; (x=2; echo $x); echo \"[$x]\"",
    "{ echo a; echo b; } | { read first; read second; echo $second $first; }",
    "echo one two three | while read a b; do echo \"$b $a\"; done",
    "printf '%s-%d\\n' a 1 b 2; printf '%5s|%-5s|%05d|%x\\n' ab cd 42 255",
    "printf '%b|%s\\n' 'a\\tb' 'a\\tb'; printf '%c%c\\n' xyz uvw; printf '100%%\\n'",
    "echo 'a\\nb'; echo -n no newline; echo",
    "cat <<EOF\nhello $((1+1)) $(echo sub)\n\\$literal\nEOF",
    "cat <<'EOF'\n$x $(echo no)\nEOF",
    "cat <<-EOF\n\tindented\n\tEOF\necho after",
    "set -e; false; echo unreachable",
    "set -e; false || true; if false; then :; fi; ! true; echo reached",
    "set -e; f() { false; echo in; }; f && echo x; echo end",
    "set -u; echo ${x-ok}; echo $nothing; echo unreachable",
    "set -- a 'b c' d; echo $#; for i in \"$@\"; do echo \"<$i>\"; done; shift; echo $1 \"$*\"",
    "set -- ; for i in \"$@\"; do echo never; done; echo \"$#\" x\"$@\"y",
    "IFS=:; x=a:b::c; for i in $x; do echo \"<$i>\"; done",
    "IFS=, read a b c <<EOF\n1,2,3,4\nEOF\necho \"$a|$b|$c\"",
    "x=5; x=6 eval 'echo $x'; echo $x; y=7 sh -c 'echo $y'; echo \"[$y]\"",
    "exit 300",
    "exit 3; echo no",
    "sh -c 'exit 5'; echo $?; sh -c 'echo $0 $1 $#' name arg other",
    "nosuchcommand; echo $?",
    "cat /nonexistent; echo $?",
    "echo x > /nonexistent/y; echo $?",
    "d=$(mktemp -d); cd $d; echo one > f; echo two >> f; cat f; wc -l < f; rm -r $d; ls $d; echo "
    "$?",
    "d=$(mktemp -d); cd $d; touch a.txt b.txt c.log; echo *.txt *.none [bc]*; echo '*' \"*\"; rm "
    "-r $d",
    "d=$(mktemp -d); cd $d; mkdir -p x/y; echo q > x/y/z; cp -r x w; mv x v; cat w/y/z v/y/z; [ -d "
    "x ]; echo $?",
    "[ a = a ] && [ 1 -lt 2 ] && [ -n x ] && [ -z '' ] && [ ! a = b ] && echo all",
    "[ -e /etc ] && [ -d /etc ] && [ ! -f /etc ] && [ -f /etc/passwd ] && [ -s /etc/passwd ]; echo "
    "$?",
    "[ x -eq 1 ]; echo $?; [ ; echo $?; [ 1 = 1 -a 2 = 3 ]; echo $?; [ 1 = 1 -o 2 = 3 ]; echo $?",
    "sleep 0.05 & wait $!; echo $?; (exit 4) & wait $!; echo $?",
    "sh -c 'kill -TERM $$; echo no'; echo $?",
    "sleep 100 & p=$!; kill $p; wait $p; echo $?",
    "trap 'echo bye' EXIT; echo hi; exit 2",
    "sh -c 'trap \"echo caught\" TERM; kill -TERM $$; echo after'",
    "sh -c 'trap \"echo caught\" TERM; x=$(kill -TERM $$; echo inside); echo $x'",
    "timeout 0.2 sleep 5; echo $?; timeout 5 true; echo $?; timeout -s KILL 0.1 sleep 5; echo $?",
    "echo a b c | tr a-c A-C; echo hello | cut -c 2-3; echo a:b:c | cut -d: -f1,3",
    "printf '3\\n1\\n2\\n10\\n' | sort; printf '3\\n1\\n10\\n' | sort -n",
    "printf 'one\\ntwo\\nthree\\n' | grep t; printf 'one\\ntwo\\n' | grep -c o; echo x | grep -q "
    "y; echo $?",
    "printf 'a1\\nb2\\n' | grep -E '^[a-z]1$'; printf 'ab\\n' | grep -v a; echo $?",
    "printf 'l1\\nl2\\nl3\\nl4\\n' | head -n 2; printf 'l1\\nl2\\nl3\\n' | tail -n 1; printf "
    "abcdef | tail -c +3",
    "printf abcdef | head -c 3; dirname /a/b/c",
    "printf abc | sha256sum; printf 'a b c\\n' | wc -w; yes=1; echo $yes",
    "d=$(mktemp -d); ln -s $d $d/l; cd -P $d/l && [ \"$(pwd -P)\" = $d ] && echo physical; cd /; "
    "stat -c %A $d $d/l; rm -r $d",
    "LC_ALL=C stat -c '%u %A %n' / /tmp /tmp/. | while read -r a b c; do echo \"$c $b $a\"; done",
    "IFS= read -r x; echo \"[$x]\"; case 'd-' in [d-]?) echo both;; esac",
    "d=$(mktemp -d); dd if=/dev/zero of=$d/z bs=1k count=4 2>/dev/null; stat -c %s $d/z; rm -r $d",
    "x=$(exit 3); echo $?; y=$(false) ; echo $?",
    "(exit 4); x=$?; echo $x $?; false; x=1; echo $?; $(exit 6); echo $?;",
    "sleep 100 > /dev/null & p=$!; kill -KILL $p; wait $p; echo $?",
    "(true; exec sh -c 'exit 5') > /dev/null; s=$?; echo $s; env A=1 sh -c 'echo $A; exit 3'; "
    "s=$?; "
    "echo $s",
    "x=$(sleep 100 > /dev/null 2>&1 & echo $!); kill $x; echo $?",
    "echo out; echo err >&2; { echo e2 >&2; } 2>&1",
    "exec 3>&1; echo three >&3; exec 3>&-",
    "a=1 b=2; echo $a$b; unset a; echo \"[$a]\"; readonly r=5; echo $r",
    "x=abc; eval \"y=\\$x\"; echo $y; command -v nosuch; echo $?",
    "if false; then echo 1; elif true; then echo 2; else echo 3; fi",
    "while :; do break; done; echo $?; for i in; do echo no; done; echo $?",
    "echo \"a'b\" 'c\"d' \"e\\\"f\" \"g\\h\" \"i\\$j\"",
    "echo a\\\nb; echo \"c\\\nd\" # comment\necho e#f",
    "umask 027; umask; cd /tmp; pwd; cd /nonexistent; echo $?",
    "f() { f2; }; f2() { echo nested; }; f | cat; echo done | cat | cat",
    "echo ~ | grep -c /; echo \"~\"; x=~/y; case $x in /*) echo expanded;; esac",
    "if true; then",
    "echo 'open",
    "for in x; do",
    "echo )",
    "while; done",
    "fi",
};

class ScriptTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ScriptTest, DoesWhatTheHostsShellDoes) {
  const auto expected = real_sh(GetParam());
  Bench bench;

  const auto ran = bench.sh(std::string{"cd /; "} + GetParam());

  EXPECT_EQ(ran.out, expected.out) << GetParam() << "\nstderr: " << ran.err;
  EXPECT_EQ(ran.status, expected.status) << GetParam() << "\nstderr: " << ran.err;
}

INSTANTIATE_TEST_SUITE_P(Table, ScriptTest, ::testing::ValuesIn(kScripts));

TEST(ShellTest, NeverTouchesTheHost) {
  Bench bench;

  const auto ran = bench.sh("echo planted > /tmp/cupel-shell-must-not-exist; cat /etc/hostname");

  EXPECT_EQ(ran.out, "v01-n01\n");
  EXPECT_NE(::access("/tmp/cupel-shell-must-not-exist", F_OK), 0);
}

TEST(ShellTest, EndlessLoopCanBeKilled) {
  Bench bench;
  std::optional<int> status;
  const auto pipe = std::make_shared<Pipe>();
  const auto process =
      bench.host.run("while :; do :; done", pipe_reader(std::make_shared<Pipe>()),
                     pipe_writer(pipe), pipe_writer(pipe), {}, [&](int ended) { status = ended; });
  int turns = 0;
  bench.run_until([&] { return ++turns > 100; });

  process->signal(9);

  EXPECT_TRUE(bench.run_until([&] { return status.has_value(); }));
  EXPECT_EQ(status, 137);
}

TEST(ShellTest, ASignalWithATrapWaitsUntilAllIsRead) {
  Bench bench;
  const auto pipe = std::make_shared<Pipe>();
  std::string read;
  std::optional<int> error;
  const auto body = [&](ProcessPtr process) -> Task<int> {
    error = co_await process->read_all(0, read);
    co_return 0;
  };
  const auto process = bench.host.fork(nullptr, "sh");
  process->files[0] = pipe_reader(pipe);
  process->caught.insert(15);
  bench.host.start(process, body(process));

  asio::post(bench.io, [&] {
    process->signal(15);
    pipe->queue = "all of it";
    pipe->writer_gone = true;
    pipe->changed();
  });

  ASSERT_TRUE(bench.run_until([&] { return error.has_value(); }));
  EXPECT_EQ(error, 0);
  EXPECT_EQ(read, "all of it");
  EXPECT_THAT(process->pending, ::testing::ElementsAre(15));
  EXPECT_TRUE(process->interrupted());
}

TEST(ShellTest, DeepNestingAndForkBombsEndInAnErrorNotInACrash) {
  Bench bench;
  std::string deep;
  for (int i = 0; i < 500; ++i) deep += "$(";

  EXPECT_EQ(bench.sh(deep).status, 2);
  EXPECT_EQ(bench.sh(std::string(500, '(') + "true" + std::string(500, ')')).status, 2);
  EXPECT_NE(bench.sh("f() { f; }; f").status, 0);
  EXPECT_NE(bench.sh("f() { (f); }; f").status, 0);
  EXPECT_EQ(bench.sh("x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done").status, 2);
}

}  // namespace
}  // namespace cupel::rehearsal
