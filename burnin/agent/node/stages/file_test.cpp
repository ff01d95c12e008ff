#include "burnin/agent/node/stages/file_test.h"

#include "base/text.h"

namespace cupel::agent {
namespace {

constexpr std::uint64_t kLeast = 16ull << 20, kMost = 16ull << 40;
constexpr std::uint64_t kMostRuntime = 86'400, kMostLimit = 100 * 86'400;
constexpr std::size_t kMostMounts = 4u << 20;  // bytes of /proc/mounts

bool is_above(std::string_view mount, std::string_view path) {
  if (mount == "/") return true;
  return path.starts_with(mount) && (path.size() == mount.size() || path[mount.size()] == '/');
}

void add(Command& fio, std::vector<std::string> words) {
  for (auto& word : words) fio.argv.push_back(std::move(word));
}

}  // namespace

FileTest file_test_of(OrderReader& order) {
  FileTest test{.directory = order.folder("directory"),
                .bytes = order.amount("bytes", kLeast, kMost),
                .runtime = order.amount("runtime", 1, kMostRuntime)};
  test.limit = std::chrono::seconds{order.amount("limit", 1, kMostLimit)};
  return test;
}

Mount mount_of(const Tree& tree, const std::string& path) {
  Mount found;
  for (const auto line : lines(tree.bytes("/proc/mounts", kMostMounts).value_or(""))) {
    const auto cells = words(line);
    if (cells.size() < 3 || !is_above(cells[1], path) || cells[1].size() < found.path.size())
      continue;
    found = {std::string{cells[1]}, std::string{cells[2]}};
  }
  return found;
}

std::string too_small(const Scratch::Room& room, std::uint64_t bytes) {
  const auto tenth = bytes / 10;
  const auto needed = (bytes + tenth) / 1024 + 1;
  if (room.free_kib >= needed) return {};
  return "not enough space in " + room.path + ": " + std::to_string(needed) + " KiB needed, '" +
         std::to_string(room.free_kib) + "' KiB free";
}

Command fio(std::vector<std::string> words, std::chrono::seconds limit) {
  Command command{.argv = {"fio", "--output-format=json"}, .limit = limit};
  add(command, std::move(words));
  return command;
}

void add_timed_job(Command& fio, std::string_view name, std::uint64_t runtime,
                   std::vector<std::string> words) {
  add(fio, {"--name=" + std::string{name}, "--stonewall", "--rw=" + std::string{name}});
  add(fio, std::move(words));
  add(fio, {"--time_based", "--runtime=" + std::to_string(runtime)});
}

void add_verification(Command& fio, std::vector<std::string> words) {
  add(fio, {"--name=verify", "--stonewall", "--rw=write"});
  add(fio, std::move(words));
  add(fio,
      {"--verify=crc32c", "--do_verify=1", "--verify_state_save=0", "--continue_on_error=verify"});
}

}  // namespace cupel::agent
