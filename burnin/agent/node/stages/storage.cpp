// The shared file system: a scratch file in a folder of this node's own, while the other nodes of
// its group do the same. Where another file system is mounted than should be, nothing is written.
#include <algorithm>

#include "base/text.h"
#include "burnin/agent/node/stages/file_test.h"

namespace cupel::agent {
namespace {

constexpr std::string_view kKind = "cupel-storage";
constexpr std::uint64_t kOfThisRun = 600;  // seconds; older folders are of runs before
constexpr std::chrono::seconds kAskLimit{60};

/// Folders of nodes that began when this one did. An earlier run may have left its own behind.
void count_nodes(const Node& node, const std::string& directory, const std::string& ours) {
  const auto now = ScratchName::read(ours, kKind);
  const auto names = node.tree.names(directory);
  if (names.size() == Tree::kMostNames)
    return node.lines.unmeasured(
        "storage.nodes", "ls",
        directory + " has " + std::to_string(Tree::kMostNames) +
            " names or more: make an empty folder, and name that as directory");
  int count = 0;
  for (const auto& name : names) {
    const auto each = ScratchName::read(name, kKind);
    if (now && each && each->seconds + kOfThisRun > now->seconds) ++count;
  }
  if (count > 0) return node.lines.measured("storage.nodes", "", count);
  node.lines.unmeasured("storage.nodes", "ls", "no folder of a node was seen");
}

/// Reports whether the file system is one of `types`. `path` is empty where there is no such
/// folder.
bool report_mount(const Node& node, const std::string& directory, const std::string& path,
                  const std::vector<std::string>& types) {
  const auto mount = path.empty() ? Mount{} : mount_of(node.tree, path);
  const bool right = std::ranges::find(types, mount.type) != types.end();
  const auto found = path.empty()         ? "absent at " + directory
                     : mount.path.empty() ? std::string{"nothing at nowhere"}
                                          : mount.type + " at " + mount.path;
  node.lines.note("mount", found);
  node.lines.measured("storage.mounted", "", right ? 1 : 0);
  if (!right)
    node.lines.unmeasured("storage.errors", "/proc/mounts",
                          "nothing was written: the folder lies on another file system");
  return right;
}

/// ["nfs", "nfs4"]; none where the order has no such list.
std::vector<std::string> types_of(const JsonValue& order) {
  constexpr std::size_t kMostTypes = 16;
  std::vector<std::string> types;
  const auto* list = order.find("types");
  const auto* all = list == nullptr ? nullptr : list->array();
  if (all == nullptr || all->size() > kMostTypes) return types;
  for (const auto& each : *all)
    if (each.text() != nullptr && !each.text()->empty()) types.push_back(*each.text());
  return types;
}

Work<std::string> engine_of(Node& node, bool direct) {
  const auto engines =
      co_await node.programs.run({.argv = {"fio", "--enghelp"}, .limit = kAskLimit});
  co_return direct&& engines.out.contains("libaio") ? "libaio" : "psync";
}

Command jobs_of(const FileTest& test, const std::string& engine, bool direct) {
  auto command = fio({"--filename=./file", "--size=" + std::to_string(test.bytes), "--bs=4m",
                      "--ioengine=" + engine, "--iodepth=16", direct ? "--direct=1" : "--direct=0"},
                     test.limit);
  add_timed_job(command, "write", test.runtime, {"--end_fsync=1"});
  add_verification(command, {});
  add_timed_job(command, "read", test.runtime, {});
  return command;
}

/// The neighbours are counted while all of a group are at work.
Work<bool> measure(Node& node, const FileTest& test, const std::string& directory,
                   const ScratchFolder& folder) {
  const bool direct = folder.takes_direct();
  const auto engine = co_await engine_of(node, direct);
  node.lines.asked("bytes", static_cast<double>(test.bytes));
  node.lines.asked("seconds", static_cast<double>(test.runtime));
  node.lines.asked("direct", direct ? 1 : 0);
  const auto command = jobs_of(test, engine, direct);
  node.programs.start(command);
  auto ended = co_await node.programs.first_end(std::chrono::seconds{(test.runtime + 1) / 2});
  count_nodes(node, directory, folder.name());
  while (!ended) ended = co_await node.programs.first_end(test.limit);
  node.lines.evidence("fio", "", command, ended->ran);
  co_return true;
}

}  // namespace

Work<GaveUp> run_storage(Node& node, const JsonValue& order) {
  OrderReader reader{order};
  const auto test = file_test_of(reader);
  const auto types = types_of(order);
  if (!reader.why().empty()) co_return reader.why();
  if (types.empty()) co_return "the order has no types of file systems";
  if (!node.programs.has("fio")) co_return "fio is not installed on the node";
  const auto room = node.scratch.look(test.directory);
  if (!report_mount(node, test.directory, room ? room->path : "", types)) co_return {};
  if (auto why = too_small(*room, test.bytes); !why.empty()) co_return why;
  const auto made = node.scratch.make(*room, kKind);
  if (!made.folder) co_return made.why;
  if (!made.folder->enter()) co_return "the scratch folder in " + room->path + " cannot be entered";
  co_await measure(node, test, room->path, *made.folder);
  co_return {};
}

}  // namespace cupel::agent
