#include "rehearsal/shell/program.h"

#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/shell/shell.h"
#include "rehearsal/tools/firmware_tools.h"
#include "rehearsal/tools/sets.h"

namespace cupel::rehearsal {
namespace {

std::vector<Tool> all_tools() {
  std::vector<Tool> all;
  for (const auto set :
       {file_tools(), text_tools(), process_tools(), system_tools(), node_tools(), load_tools(),
        pci_tools(), drive_tools(), infiniband_tools(), discovery_tools(), perftest_tools(),
        kernel_log_tools(), service_tools(), http_tools(), cupel_node_tools(), firmware_tools()})
    all.insert(all.end(), set.begin(), set.end());
  std::ranges::sort(all, {}, &Tool::name);
  return all;
}

Program program_at(const Process& process, const std::string& path) {
  const auto node = process.disk().find(path);
  if (!node) return {.status = 127};
  if (node->is_folder() || (node->mode & 0111) == 0) return {.status = 126};
  constexpr std::string_view kRealProgram =
      "\x7f"
      "ELF";
  if (!node->bytes.starts_with(kRealProgram)) return {.script = node};
  // What was brought here from outside is as good as the tool of its name, and is never run itself.
  const auto* tool = node->bytes.starts_with(kProgramMark)
                         ? find_tool(node->bytes.substr(kProgramMark.size() + 1))
                         : find_tool(path.substr(path.rfind('/') + 1));
  return tool ? Program{.tool = tool} : Program{.status = 126};
}

}  // namespace

std::span<const Tool> tools() {
  static const auto all = all_tools();
  return all;
}

const Tool* find_tool(std::string_view name) {
  const auto all = tools();
  const auto found = std::ranges::lower_bound(all, name, {}, &Tool::name);
  return found != all.end() && found->name == name ? &*found : nullptr;
}

Program find_program(const Process& process, const std::string& name) {
  if (name.empty()) return {.status = 127};
  if (name.contains('/')) return program_at(process, process.path(name));
  const auto set = process.environment.find("PATH");
  const std::string path = set == process.environment.end()
                               ? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
                               : set->second;
  for (const auto folder : split(path, ':')) {
    auto found = program_at(process, process.path(std::string{folder} + "/" + name));
    if (found.status == 0) return found;
  }
  return {.status = 127};
}

Task<int> run_program(ProcessPtr process, Arguments arguments, std::string complainer) {
  constexpr std::size_t kMostArguments = 65536;
  const auto program = find_program(*process, arguments[0]);
  if (program.status != 0 || arguments.size() > kMostArguments) {
    const auto why = program.status == 126 ? "Permission denied" : "No such file or directory";
    const auto line = complainer == "sh" ? "sh: 1: " + arguments[0] + ": not found\n"
                                         : complainer + ": '" + arguments[0] + "': " + why + "\n";
    co_await process->print_error(line);
    co_return program.status != 0 ? program.status : 126;
  }
  if (program.tool) co_return co_await program.tool->run(process, std::move(arguments));
  ShellStart start{.name = arguments[0], .script = program.script->content()};
  start.arguments.assign(arguments.begin() + 1, arguments.end());
  co_return co_await run_shell(process, std::move(start));
}

}  // namespace cupel::rehearsal
