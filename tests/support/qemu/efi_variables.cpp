#include "tests/support/qemu/efi_variables.h"

#include <algorithm>
#include <cstring>

#include "base/try.h"

namespace cupel::rehearsal {
namespace {

constexpr EfiGuid kSystemNvData{0x8d, 0x2b, 0xf1, 0xff, 0x96, 0x76, 0x8b, 0x4c,
                                0xa9, 0x85, 0x27, 0x47, 0x07, 0x5b, 0x4f, 0x50};
constexpr EfiGuid kAuthenticatedStore{0x78, 0x2c, 0xf3, 0xaa, 0x7b, 0x94, 0x9a, 0x43,
                                      0xa1, 0x80, 0x2e, 0x14, 0x4e, 0xc3, 0x77, 0x92};
constexpr std::size_t kVolumeGuid = 16, kVolumeHeaderLength = 48;  // offsets in the volume's header
constexpr std::size_t kStoreHeader = 28, kStoreSize = 16, kStoreFormat = 20, kStoreState = 21;
constexpr std::uint8_t kFormatted = 0x5a, kHealthy = 0xfe;
constexpr std::size_t kHead = 36;  // StartId, State, Attributes, counter, time, index of the key
constexpr std::size_t kVariableHeader = kHead + 4 + 4 + 16;
constexpr std::uint16_t kStartId = 0x55aa;
constexpr std::uint8_t kAdded = 0x3f, kInDeletedTransition = 0xfe;
constexpr std::uint32_t kKeptForAll = 0x7;  // non-volatile, boot services, runtime

template <class Number>
Number number_at(std::string_view bytes, std::size_t at) {
  Number number{};
  std::memcpy(&number, bytes.data() + at, sizeof number);  // little-endian, as this machine
  return number;
}

template <class Number>
void append(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

bool guid_is(std::string_view bytes, std::size_t at, const EfiGuid& guid) {
  return std::memcmp(bytes.data() + at, guid.data(), guid.size()) == 0;
}

Error malformed(const char* what) {
  return {Code::kMalformed, std::string{"the file of EFI variables: "} + what};
}

bool lives(std::uint8_t state) {
  return state == kAdded || state == (kAdded & kInDeletedTransition);
}

std::string new_head() {
  std::string head;
  append(head, kStartId);
  append(head, kAdded);
  append(head, std::uint8_t{0});
  append(head, kKeptForAll);
  head.resize(kHead, '\0');
  return head;
}

/// Variables begin at multiples of four.
void pad(std::string& bytes) {
  while (bytes.size() % 4 != 0) bytes += '\xff';
}

}  // namespace

std::string ucs2(std::string_view ascii) {
  std::string text;
  for (const char c : ascii) text += {c, '\0'};
  return text + std::string(2, '\0');
}

std::string blank_variables(std::uint32_t block) {
  constexpr std::uint32_t kReadAndWritten = 0x4feff;  // EFI_FVB_ATTRIBUTES_2
  constexpr std::uint16_t kHeader = 72;
  constexpr std::size_t kSum = 50;
  std::string image(kVolumeGuid, '\0');
  image.append(reinterpret_cast<const char*>(kSystemNvData.data()), kSystemNvData.size());
  append(image, std::uint64_t{block} * 3);
  image += "_FVH";
  append(image, kReadAndWritten);
  append(image, kHeader);
  image += std::string(5, '\0') + '\2';  // the sum, no extension; revision
  for (const auto each : {3u, block, 0u, 0u}) append(image, each);
  std::uint16_t sum = 0;
  for (std::size_t at = 0; at < kHeader; at += 2)
    sum = static_cast<std::uint16_t>(sum + number_at<std::uint16_t>(image, at));
  const auto rest = static_cast<std::uint16_t>(-sum);
  std::memcpy(image.data() + kSum, &rest, sizeof rest);
  image.append(reinterpret_cast<const char*>(kAuthenticatedStore.data()),
               kAuthenticatedStore.size());
  append(image, block - kHeader);
  for (const auto each : {kFormatted, kHealthy}) append(image, each);
  image += std::string(6, '\0');
  image.resize(std::size_t{block} * 3, '\xff');
  return image;
}

Result<EfiVariables> EfiVariables::parse(std::string image) {
  if (image.size() < kVolumeHeaderLength + 2 || !guid_is(image, kVolumeGuid, kSystemNvData))
    return malformed("it is no volume of variables");
  const std::size_t store = number_at<std::uint16_t>(image, kVolumeHeaderLength);
  if (store + kStoreHeader > image.size() || !guid_is(image, store, kAuthenticatedStore))
    return malformed("it holds no authenticated variables");
  const auto size = number_at<std::uint32_t>(image, store + kStoreSize);
  if (size < kStoreHeader || size > image.size() - store)
    return malformed("its store is longer than the file");
  if (number_at<std::uint8_t>(image, store + kStoreFormat) != kFormatted ||
      number_at<std::uint8_t>(image, store + kStoreState) != kHealthy)
    return malformed("its store is not formatted");

  EfiVariables all;
  all.begin_ = store + kStoreHeader;
  all.end_ = store + size;
  auto at = all.begin_;
  while (at + kVariableHeader <= all.end_ && number_at<std::uint16_t>(image, at) == kStartId) {
    const std::size_t name = number_at<std::uint32_t>(image, at + kHead);
    const std::size_t data = number_at<std::uint32_t>(image, at + kHead + 4);
    const auto rest = all.end_ - at - kVariableHeader;
    if (name > rest || data > rest - name) return malformed("a variable leaves its store");
    Variable one{.head = image.substr(at, kHead),
                 .name = image.substr(at + kVariableHeader, name),
                 .data = image.substr(at + kVariableHeader + name, data)};
    std::memcpy(one.vendor.data(), image.data() + at + kHead + 8, one.vendor.size());
    if (lives(number_at<std::uint8_t>(image, at + 2))) all.variables_.push_back(std::move(one));
    at = (at + kVariableHeader + name + data + 3) / 4 * 4;
  }
  all.image_ = std::move(image);
  return all;
}

/// The last of a name: one that is about to be replaced stands before the one that replaces it.
std::vector<EfiVariables::Variable>::const_iterator EfiVariables::find(
    std::string_view name) const {
  const auto requested = ucs2(name);
  const auto last = std::find_if(variables_.rbegin(), variables_.rend(), [&](const Variable& one) {
    return one.vendor == kEfiGlobal && one.name == requested;
  });
  return last == variables_.rend() ? variables_.end() : std::prev(last.base());
}

std::optional<std::string> EfiVariables::global(std::string_view name) const {
  const auto found = find(name);
  return found == variables_.end() ? std::nullopt : std::optional{found->data};
}

std::vector<std::string> EfiVariables::global_names() const {
  std::vector<std::string> names;
  for (const auto& one : variables_) {
    if (one.vendor != kEfiGlobal) continue;
    std::string name;
    for (std::size_t i = 0; i + 2 < one.name.size(); i += 2) name += one.name[i];
    names.push_back(std::move(name));
  }
  return names;
}

void EfiVariables::set_global(std::string_view name, std::string data) {
  erase_global(name);
  variables_.push_back(
      {.head = new_head(), .vendor = kEfiGlobal, .name = ucs2(name), .data = std::move(data)});
}

void EfiVariables::erase_global(std::string_view name) {
  for (auto found = find(name); found != variables_.end(); found = find(name))
    variables_.erase(found);
}

Result<std::string> EfiVariables::image() const {
  std::string store;
  for (const auto& one : variables_) {
    store += one.head;
    append(store, static_cast<std::uint32_t>(one.name.size()));
    append(store, static_cast<std::uint32_t>(one.data.size()));
    store.append(reinterpret_cast<const char*>(one.vendor.data()), one.vendor.size());
    store += one.name + one.data;
    pad(store);
  }
  const auto room = end_ - begin_;
  if (store.size() > room) return Error{Code::kInvalid, "the EFI variables do not fit their store"};
  store.resize(room, '\xff');
  auto image = image_;
  image.replace(begin_, room, store);
  return image;
}

}  // namespace cupel::rehearsal
