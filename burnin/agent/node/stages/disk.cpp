// One drive: a scratch file in a folder of it, written, verified and read by fio.
#include "burnin/agent/node/stages/file_test.h"

namespace cupel::agent {
namespace {

/// What is written there never reaches a drive.
bool is_in_memory(const Mount& mount) { return mount.type == "tmpfs" || mount.type == "ramfs"; }

Command jobs_of(const FileTest& test, bool direct) {
  auto command = fio({"--filename=./file", "--size=" + std::to_string(test.bytes), "--bs=4m",
                      "--ioengine=psync", direct ? "--direct=1" : "--direct=0"},
                     test.limit);
  add_timed_job(command, "write", test.runtime, {"--end_fsync=1"});
  add_verification(command, {});
  add_timed_job(command, "read", test.runtime, {});
  return command;
}

}  // namespace

Work<GaveUp> run_disk(Node& node, const JsonValue& order) {
  OrderReader reader{order};
  const auto test = file_test_of(reader);
  if (!reader.why().empty()) co_return reader.why();
  if (!node.programs.has("fio")) co_return "fio is not installed on the node";
  const auto room = node.scratch.look(test.directory);
  if (!room) co_return "there is no folder " + test.directory + " on the node";
  const auto mount = mount_of(node.tree, room->path);
  if (is_in_memory(mount))
    co_return room->path + " is in memory (" + mount.type + "), not on a drive";
  if (auto why = too_small(*room, test.bytes); !why.empty()) co_return why;
  const auto made = node.scratch.make(*room, "cupel-disk");
  if (!made.folder) co_return made.why;
  const bool direct = made.folder->takes_direct();
  if (!made.folder->enter()) co_return "the scratch folder in " + room->path + " cannot be entered";
  node.lines.asked("bytes", static_cast<double>(test.bytes));
  node.lines.asked("seconds", static_cast<double>(test.runtime));
  node.lines.asked("direct", direct ? 1 : 0);
  const auto command = jobs_of(test, direct);
  const auto ran = co_await node.programs.run(command);
  node.lines.evidence("fio", "", command, ran);
  co_return {};
}

}  // namespace cupel::agent
