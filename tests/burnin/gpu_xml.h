#pragma once
// The output of a node with several GPUs, made of a capture with one.
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::burnin {

inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// One GPU with the two sections that the A100's capture (MIG on, no persistence) lacks.
inline std::string healthy(const std::string& capture) {
  auto text = replaced(capture, "<current_mig>Enabled", "<current_mig>Disabled");
  text = replaced(text, "<pending_mig>Enabled", "<pending_mig>Disabled");
  text = replaced(text, "<persistence_mode>Disabled", "<persistence_mode>Enabled");
  return replaced(text, "<remapped_rows>N/A</remapped_rows>",
                  "<remapped_rows><remapped_row_corr>0</remapped_row_corr><remapped_row_unc>0</"
                  "remapped_row_unc><remapped_row_pending>No</remapped_row_pending>"
                  "<remapped_row_failure>No</remapped_row_failure></remapped_rows>");
}

/// "<uuid>GPU-513536b6-..." with the last character of the element set to `digit`.
inline std::string with_last(std::string gpu, const std::string& element, char digit) {
  const auto end = gpu.find("</" + element + ">");
  if (end != gpu.npos && end > 0) gpu[end - 1] = digit;
  return gpu;
}

/// The capture's GPU once at each address, each with an identity of its own.
inline std::string with_gpus_at(const std::string& capture,
                                std::span<const std::string> addresses) {
  const auto begin = capture.find("<gpu id="), end = capture.find("</gpu>") + 6;
  const auto gpu = capture.substr(begin, end - begin);
  const auto id_begin = gpu.find('"') + 1, id_end = gpu.find('"', id_begin);
  const auto id = gpu.substr(id_begin, id_end - id_begin);
  auto text = capture.substr(0, begin);
  char digit = '0';
  for (const auto& address : addresses) {
    auto own = replaced(gpu, id, "00000000:" + address);
    own = with_last(with_last(std::move(own), "uuid", digit), "serial", digit);
    text += own + "\n";
    digit = digit == '9' ? 'a' : static_cast<char>(digit + 1);
  }
  return text + "</nvidia_smi_log>\n";
}

/// What `nvidia-smi nvlink -s` and `-e` say of every GPU in the text: all links up, no errors.
inline std::string links_of(const std::string& text, int count) {
  std::string links, errors;
  int number = 0;
  for (auto at = text.find("<uuid>"); at != text.npos; at = text.find("<uuid>", at + 1)) {
    const auto begin = at + 6;
    const auto head = "GPU " + std::to_string(number++) +
                      ": NVIDIA (UUID: " + text.substr(begin, text.find('<', begin) - begin) +
                      ")\n";
    links += head;
    errors += head;
    for (int i = 0; i < count; ++i) {
      const auto link = "\t Link " + std::to_string(i) + ": ";
      links += link + "25 GB/s\n";
      errors +=
          link + "Replay Errors: 0\n" + link + "Recovery Errors: 0\n" + link + "CRC Errors: 0\n";
    }
  }
  links += errors;
  return links;
}

/// Eight of a captured A100, each at its place, with its links up.
inline std::string eight(const std::string& capture) {
  std::vector<std::string> addresses;
  for (const auto* bus : {"07", "0f", "47", "4e", "87", "90", "b7", "bd"})
    addresses.push_back(std::string{bus} + ":00.0");
  const auto text = with_gpus_at(healthy(capture), addresses);
  const auto links = links_of(text, 12);
  return text + links + "cupel-fabricmanager: active\ncupel-kernel-log: told\n";
}

}  // namespace cupel::burnin
