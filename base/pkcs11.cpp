#include "base/pkcs11.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <p11-kit/pkcs11.h>

#include <algorithm>
#include <array>
#include <boost/url/pct_string_view.hpp>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/never_null.h"
#include "base/ownership.h"
#include "base/text.h"

namespace cupel {
namespace {

constexpr std::size_t kLongestUri = 2048;
constexpr unsigned long kMostSlots = 256;
constexpr std::size_t kKeyBytes = 32, kSignatureSize = 64;
constexpr CK_KEY_TYPE kEdwards = 0x40;  // CKK_EC_EDWARDS of PKCS #11 3.0, 6.3

struct Attribute {
  std::string_view name;
  std::string TokenKey::* field;
};
constexpr std::array kOfPath{
    Attribute{"token", &TokenKey::token}, Attribute{"serial", &TokenKey::serial},
    Attribute{"object", &TokenKey::object}, Attribute{"id", &TokenKey::id}};
constexpr std::array kOfQuery{Attribute{"module-path", &TokenKey::module},
                              Attribute{"pin-source", &TokenKey::pin_source}};

Error invalid(std::string what) { return {Code::kInvalid, std::move(what)}; }

/// "token=site": into the field that the table names.
Result<void> take(std::string_view text, std::span<const Attribute> table, TokenKey& key) {
  const auto equals = text.find('=');
  const auto name = text.substr(0, equals);
  if (name == "pin-value")
    return invalid("a PIN in the key's name is seen in the list of processes: use pin-source");
  if (name == "type" && text == "type=private") return ok();
  const auto row = std::ranges::find(table, name, &Attribute::name);
  if (row == table.end() || equals == text.npos)
    return invalid(
        fmt::format("'{}' is no attribute that is known here: token, serial, object and "
                    "id, then module-path and pin-source behind a '?'",
                    printable(name)));
  const auto value = boost::urls::make_pct_string_view(never_null(text.substr(equals + 1)));
  if (!value) return invalid(fmt::format("{}: no percent-encoded text", name));
  auto& field = key.*row->field;
  if (!field.empty()) return invalid(fmt::format("{} twice", name));
  field = value->decode();
  if (field.empty()) return invalid(fmt::format("{} is empty", name));
  return ok();
}

/// What the standard calls it, where a person can do something about it.
std::string why(CK_RV code) {
  switch (code) {
    case CKR_PIN_INCORRECT:
      return "the PIN is wrong";
    case CKR_PIN_LOCKED:
      return "its PIN is locked after too many wrong ones";
    case CKR_PIN_EXPIRED:
      return "its PIN has expired: set a new one with the token's own tool";
    case CKR_DEVICE_REMOVED:
    case CKR_TOKEN_NOT_PRESENT:
      return "it was taken away";
    case CKR_DATA_LEN_RANGE:
    case CKR_DEVICE_MEMORY:
      return "it does not sign so many bytes in one piece: certify fewer nodes (--nodes), or use a "
             "key in a file";
    case CKR_MECHANISM_INVALID:
    case CKR_KEY_TYPE_INCONSISTENT:
      return "it does not sign with Ed25519 (CKM_EDDSA)";
    default:
      return fmt::format("PKCS#11 error {:#x}", code);
  }
}

Error refused(std::string_view attempt, CK_RV code) {
  const bool pin = code == CKR_PIN_INCORRECT || code == CKR_PIN_LOCKED || code == CKR_PIN_EXPIRED;
  const bool cannot = code == CKR_MECHANISM_INVALID || code == CKR_KEY_TYPE_INCONSISTENT;
  const auto kind = pin ? Code::kRefused : cannot ? Code::kUnsupported : Code::kFailed;
  return {kind, fmt::format("the token did not {}: {}", attempt, why(code))};
}

/// A label of a token: 32 bytes, or 16 of a serial number, with spaces behind it.
template <std::size_t size>
std::string_view padded(const unsigned char (&text)[size]) {
  return trimmed({reinterpret_cast<const char*>(text), size});
}

/// The module, between C_Initialize and C_Finalize. It stays loaded: such libraries have threads of
/// their own.
class Module {
 public:
  static Result<Module> open(const std::string& path) {
    TRY(check_ownership(path));
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* reason = ::dlerror();
      return invalid("it does not open: " +
                     printable(reason == nullptr ? "no reason given" : reason));
    }
    void* symbol = ::dlsym(library, "C_GetFunctionList");
    CK_FUNCTION_LIST* functions = nullptr;
    if (symbol == nullptr || reinterpret_cast<CK_C_GetFunctionList>(symbol)(&functions) != CKR_OK ||
        functions == nullptr)
      return invalid("it is no PKCS#11 module");
    CK_C_INITIALIZE_ARGS arguments{};
    arguments.flags = CKF_OS_LOCKING_OK;
    const auto begun = functions->C_Initialize(&arguments);
    if (begun != CKR_OK && begun != CKR_CRYPTOKI_ALREADY_INITIALIZED)
      return Error{Code::kFailed, "it does not start: " + why(begun)};
    return Module{functions, begun == CKR_OK};
  }
  Module(Module&& other) noexcept
      : functions_{std::exchange(other.functions_, nullptr)}, ours_{other.ours_} {}
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  Module& operator=(Module&&) = delete;
  ~Module() {
    if (functions_ != nullptr && ours_) functions_->C_Finalize(nullptr);
  }

  CK_FUNCTION_LIST* operator->() const { return functions_; }

 private:
  Module(CK_FUNCTION_LIST* functions, bool ours) : functions_{functions}, ours_{ours} {}

  CK_FUNCTION_LIST* functions_;
  bool ours_;
};

struct Slot {
  CK_SLOT_ID id = 0;
  CK_TOKEN_INFO token{};
};

/// The one token that the key's name fits: a PIN is never tried at another one.
Result<Slot> slot_of(const Module& module, const TokenKey& key) {
  std::vector<CK_SLOT_ID> ids(kMostSlots);
  CK_ULONG count = kMostSlots;
  if (const auto code = module->C_GetSlotList(CK_TRUE, ids.data(), &count); code != CKR_OK)
    return Error{Code::kFailed, "its tokens are not listed: " + why(code)};
  ids.resize(std::min(count, kMostSlots));
  std::optional<Slot> found;
  std::string others;
  for (const auto id : ids) {
    Slot slot{.id = id};
    if (module->C_GetTokenInfo(id, &slot.token) != CKR_OK) continue;
    if ((slot.token.flags & CKF_TOKEN_INITIALIZED) == 0) continue;
    const auto label = padded(slot.token.label);
    others += (others.empty() ? "" : ", ") + printable(label);
    const bool fits = (key.token.empty() || key.token == label) &&
                      (key.serial.empty() || key.serial == padded(slot.token.serialNumber));
    if (!fits) continue;
    if (found) return invalid("several tokens fit: name one by token= and serial=: " + others);
    found = slot;
  }
  if (found) return *found;
  return invalid(others.empty() ? "it has no token" : "it has no such token, but: " + others);
}

/// On the token, logged in.
class Session {
 public:
  static Result<Session> open(const TokenKey& key, std::string_view pin) {
    TRY(auto module, Module::open(key.module));
    TRY(const auto slot, slot_of(module, key));
    CK_SESSION_HANDLE handle = 0;
    const auto opened =
        module->C_OpenSession(slot.id, CKF_SERIAL_SESSION, nullptr, nullptr, &handle);
    if (opened != CKR_OK) return refused("open a session", opened);
    Session session{std::move(module), handle};
    TRY(session.log_in(slot.token, pin));
    return session;
  }
  Session(Session&& other) noexcept
      : module_{std::move(other.module_)}, handle_{std::exchange(other.handle_, 0)} {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  Session& operator=(Session&&) = delete;
  ~Session() {
    if (handle_ != 0) module_->C_CloseSession(handle_);
  }

  /// The only object of that class that the key's name fits.
  Result<CK_OBJECT_HANDLE> object(const TokenKey& key, CK_OBJECT_CLASS kind) const {
    auto type = kEdwards;
    auto label = key.object, id = key.id;
    std::vector<CK_ATTRIBUTE> attributes{{CKA_CLASS, &kind, sizeof kind},
                                         {CKA_KEY_TYPE, &type, sizeof type}};
    if (!label.empty()) attributes.push_back({CKA_LABEL, label.data(), label.size()});
    if (!id.empty()) attributes.push_back({CKA_ID, id.data(), id.size()});
    CK_OBJECT_HANDLE found[2] = {};
    CK_ULONG count = 0;
    auto code = module_->C_FindObjectsInit(handle_, attributes.data(), attributes.size());
    if (code == CKR_OK) {
      code = module_->C_FindObjects(handle_, found, 2, &count);
      module_->C_FindObjectsFinal(handle_);
    }
    if (code != CKR_OK) return refused("search for the key", code);
    const auto* what = kind == CKO_PRIVATE_KEY ? "private" : "public";
    if (count == 0)
      return invalid(fmt::format("the token has no {} key of Ed25519 of this name", what));
    if (count > 1)
      return invalid(fmt::format("the token has several {} keys of this name: add id=", what));
    return found[0];
  }

  /// Of at most 128 bytes. Errors: as refused.
  Result<std::string> attribute(CK_OBJECT_HANDLE object, CK_ATTRIBUTE_TYPE type) const {
    std::string bytes(128, '\0');
    CK_ATTRIBUTE asked{type, bytes.data(), bytes.size()};
    const auto code = module_->C_GetAttributeValue(handle_, object, &asked, 1);
    if (code != CKR_OK || asked.ulValueLen > bytes.size())
      return refused("report the public key", code);
    bytes.resize(asked.ulValueLen);
    return bytes;
  }

  Result<std::string> sign(CK_OBJECT_HANDLE object, std::string_view bytes) const {
    CK_MECHANISM mechanism{CKM_EDDSA, nullptr, 0};
    auto code = module_->C_SignInit(handle_, &mechanism, object);
    if (code != CKR_OK) return refused("sign", code);
    std::string copy{bytes}, signature(kSignatureSize, '\0');
    CK_ULONG size = signature.size();
    code = module_->C_Sign(handle_, reinterpret_cast<unsigned char*>(copy.data()), copy.size(),
                           reinterpret_cast<unsigned char*>(signature.data()), &size);
    if (code != CKR_OK) return refused("sign", code);
    if (size != kSignatureSize)
      return Error{Code::kUnsupported, fmt::format("the token's signature has {} bytes, and one "
                                                   "by Ed25519 has 64",
                                                   size)};
    return signature;
  }

 private:
  Session(Module module, CK_SESSION_HANDLE handle) : module_{std::move(module)}, handle_{handle} {}

  Result<void> log_in(const CK_TOKEN_INFO& token, std::string_view pin) const {
    if ((token.flags & CKF_LOGIN_REQUIRED) == 0) return ok();
    const bool asks_itself = (token.flags & CKF_PROTECTED_AUTHENTICATION_PATH) != 0;
    if (pin.empty() && !asks_itself)
      return invalid("the token needs a PIN: add pin-source=file:PATH to the key's name");
    if ((token.flags & (CKF_USER_PIN_LOCKED | CKF_USER_PIN_FINAL_TRY)) != 0)
      return Error{Code::kRefused,
                   "one more wrong PIN would lock the token, or it is locked: log "
                   "in with the token's own tool first"};
    std::string copy{pin};
    auto* bytes = pin.empty() ? nullptr : reinterpret_cast<unsigned char*>(copy.data());
    const auto code = module_->C_Login(handle_, CKU_USER, bytes, copy.size());
    std::ranges::fill(copy, '\0');
    if (code != CKR_OK && code != CKR_USER_ALREADY_LOGGED_IN) return refused("log in", code);
    return ok();
  }

  Module module_;
  CK_SESSION_HANDLE handle_;
};

/// Bare, as PKCS #11 3.0 has it, or as an OCTET STRING of DER, as earlier versions had every point.
Result<std::string> point_in(std::string_view bytes) {
  if (bytes.size() == kKeyBytes + 2 && bytes.starts_with("\x04\x20")) bytes.remove_prefix(2);
  if (bytes.size() == kKeyBytes) return std::string{bytes};
  return Error{Code::kUnsupported, fmt::format("the key's point has {} bytes, and one of Ed25519 "
                                               "has 32: another curve",
                                               bytes.size())};
}

}  // namespace

Result<TokenKey> parse_token_key(std::string_view uri) {
  constexpr std::string_view kScheme = "pkcs11:";
  if (!uri.starts_with(kScheme) || uri.size() > kLongestUri)
    return invalid(
        "expected pkcs11:token=LABEL;object=LABEL?module-path=PATH&pin-source=file:PATH");
  uri.remove_prefix(kScheme.size());
  const auto mark = uri.find('?');
  TokenKey key;
  for (const auto each : split(uri.substr(0, mark), ';')) {
    TRY(take(each, kOfPath, key));
  }
  const auto query = mark == uri.npos ? std::string_view{} : uri.substr(mark + 1);
  if (!query.empty())
    for (const auto each : split(query, '&')) {
      TRY(take(each, kOfQuery, key));
    }
  if (key.object.empty() && key.id.empty())
    return invalid("which key? add object=LABEL or id=%01 to its name");
  if (!key.module.starts_with('/'))
    return invalid("which module? add ?module-path= with the absolute path of its library");
  return key;
}

Result<std::string> token_public_key(const TokenKey& key, std::string_view pin) {
  TRY(const auto session, within(printable(key.module), Session::open(key, pin)));
  TRY(const auto object, session.object(key, CKO_PUBLIC_KEY));
  TRY(const auto point, session.attribute(object, CKA_EC_POINT));
  return point_in(point);
}

Result<std::string> sign_by_token(std::string_view bytes, const TokenKey& key,
                                  std::string_view pin) {
  TRY(const auto session, within(printable(key.module), Session::open(key, pin)));
  TRY(const auto object, session.object(key, CKO_PRIVATE_KEY));
  return session.sign(object, bytes);
}

}  // namespace cupel
