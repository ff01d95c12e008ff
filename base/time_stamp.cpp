#include "base/time_stamp.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ts.h>

#include <algorithm>
#include <ctime>

#include "base/never_null.h"
#include "base/released_by.h"
#include "base/text.h"

namespace cupel {
namespace {

using Asked = Owned<TS_REQ, TS_REQ_free>;
using Answer = Owned<TS_RESP, TS_RESP_free>;
using Memory = Owned<BIO, BIO_free_all>;
using Store = Owned<X509_STORE, X509_STORE_free>;
using Check = Owned<TS_VERIFY_CTX, TS_VERIFY_CTX_free>;
using Whole = Owned<ASN1_INTEGER, ASN1_INTEGER_free>;

constexpr std::size_t kMostAuthorities = 256, kMostShown = 300;

const unsigned char* raw(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

/// Of SHA-256, over `bytes`; without a nonce.
Asked asked_for(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  Asked asked{TS_REQ_new()};
  const Owned<TS_MSG_IMPRINT, TS_MSG_IMPRINT_free> imprint{TS_MSG_IMPRINT_new()};
  const Owned<X509_ALGOR, X509_ALGOR_free> algorithm{X509_ALGOR_new()};
  const bool made =
      asked && imprint && algorithm &&
      EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr) == 1 &&
      X509_ALGOR_set0(algorithm.get(), OBJ_nid2obj(NID_sha256), V_ASN1_NULL, nullptr) == 1 &&
      TS_MSG_IMPRINT_set_algo(imprint.get(), algorithm.get()) == 1 &&
      TS_MSG_IMPRINT_set_msg(imprint.get(), digest, static_cast<int>(size)) == 1 &&
      TS_REQ_set_version(asked.get(), 1) == 1 &&
      TS_REQ_set_msg_imprint(asked.get(), imprint.get()) == 1 &&
      TS_REQ_set_cert_req(asked.get(), 1) == 1;
  return made ? std::move(asked) : Asked{};
}

bool give_nonce(TS_REQ& asked) {
  std::uint64_t number = 0;
  const Whole nonce{ASN1_INTEGER_new()};
  return RAND_bytes(reinterpret_cast<unsigned char*>(&number), sizeof number) == 1 && nonce &&
         ASN1_INTEGER_set_uint64(nonce.get(), number) == 1 &&
         TS_REQ_set_nonce(&asked, nonce.get()) == 1;
}

/// What OpenSSL said last, with what it added; its list is empty afterwards.
std::string openssl_says() {
  const char* more = nullptr;
  int flags = 0;
  const auto code = ERR_peek_last_error_all(nullptr, nullptr, nullptr, &more, &flags);
  const auto* reason = ERR_reason_error_string(code);
  std::string words = reason == nullptr ? "OpenSSL gives no reason" : reason;
  if ((flags & ERR_TXT_STRING) != 0 && more != nullptr && *more != '\0')
    words += std::string{": "} + more;
  ERR_clear_error();
  return shortened(printable(words), kMostShown);
}

Result<Store> store_of(std::string_view authorities) {
  Store store{X509_STORE_new()};
  const auto text = never_null(authorities);
  const Memory bio{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
  std::size_t count = 0;
  bool damaged = false;
  ERR_clear_error();
  while (store && bio && count <= kMostAuthorities) {
    const Owned<X509, X509_free> each{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)};
    damaged = !each && ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE;
    if (!each) break;
    ++count;
    damaged = X509_STORE_add_cert(store.get(), each.get()) != 1;
    if (damaged) break;
  }
  ERR_clear_error();
  if (damaged)
    return Error{Code::kInvalid,
                 "certificate " + std::to_string(count + 1) +
                     " of it is damaged: look at it with openssl x509 -noout -text"};
  if (count == 0)
    return Error{Code::kInvalid,
                 "it has no PEM certificate (-----BEGIN CERTIFICATE-----): name that of the "
                 "authority which signed the TSA's"};
  if (count > kMostAuthorities)
    return Error{Code::kInvalid, "it has over 256 certificates: name those that sign TSAs alone"};
  return store;
}

std::string digits_of(const ASN1_INTEGER* number) {
  const Owned<BIGNUM, BN_free> value{ASN1_INTEGER_to_BN(number, nullptr)};
  char* digits = value ? BN_bn2hex(value.get()) : nullptr;
  std::string text = digits == nullptr ? std::string{} : digits;
  OPENSSL_free(digits);
  return text;
}

std::string name_of(X509* certificate) {
  const Memory bio{BIO_new(BIO_s_mem())};
  if (certificate == nullptr || !bio) return "?";
  X509_NAME_print_ex(bio.get(), X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
  char* text = nullptr;
  const auto size = BIO_get_mem_data(bio.get(), &text);
  if (size <= 0) return "?";
  return shortened(printable(std::string_view{text, static_cast<std::size_t>(size)}), kMostShown);
}

/// Of the one who signed it: the answer was verified.
std::string signer_of(PKCS7& token) {
  auto* signers = PKCS7_get0_signers(&token, nullptr, 0);
  auto name = name_of(signers == nullptr ? nullptr : sk_X509_value(signers, 0));
  sk_X509_free(signers);
  return name;
}

/// OpenSSL takes SHA-1 and MD5 here: whoever finds two texts with one digest has a stamp of both.
bool is_signed_strongly(PKCS7& token) {
  auto* signers = PKCS7_get_signer_info(&token);
  X509_ALGOR* digest = nullptr;
  if (signers == nullptr || sk_PKCS7_SIGNER_INFO_num(signers) != 1) return false;
  PKCS7_SIGNER_INFO_get0_algs(sk_PKCS7_SIGNER_INFO_value(signers, 0), nullptr, &digest, nullptr);
  const ASN1_OBJECT* object = nullptr;
  X509_ALGOR_get0(&object, nullptr, nullptr, digest);
  const auto known = {NID_sha256, NID_sha384, NID_sha512, NID_sha3_256, NID_sha3_384, NID_sha3_512};
  return std::ranges::find(known, OBJ_obj2nid(object)) != known.end();
}

Result<TimeStamp> stamp_in(TS_RESP& answer) {
  auto* info = TS_RESP_get_tst_info(&answer);
  auto* token = TS_RESP_get_token(&answer);
  std::tm time{};
  if (ASN1_TIME_to_tm(TS_TST_INFO_get_time(info), &time) != 1)
    return Error{Code::kMalformed, "the time stamp has no time: " + openssl_says()};
  char policy[128];
  OBJ_obj2txt(policy, sizeof policy, TS_TST_INFO_get_policy_id(info), 1);
  return TimeStamp{.at = std::chrono::sys_seconds{std::chrono::seconds{::timegm(&time)}},
                   .by = signer_of(*token),
                   .serial = digits_of(TS_TST_INFO_get_serial(info)),
                   .policy = policy};
}

Result<Answer> answer_in(std::string_view bytes) {
  const auto* at = raw(bytes);
  Answer answer;
  if (bytes.size() <= kLargestTimeStamp)
    answer.reset(d2i_TS_RESP(nullptr, &at, static_cast<long>(bytes.size())));
  ERR_clear_error();
  if (!answer || at != raw(bytes) + bytes.size())
    return Error{Code::kMalformed,
                 "it is no answer of a time-stamping authority (a TimeStampResp "
                 "in DER, RFC 3161)"};
  return answer;
}

bool is_granted(TS_RESP& answer) {
  const auto status =
      ASN1_INTEGER_get(TS_STATUS_INFO_get0_status(TS_RESP_get_status_info(&answer)));
  return status == TS_STATUS_GRANTED || status == TS_STATUS_GRANTED_WITH_MODS;
}

Result<TimeStamp> check(std::string_view bytes, TS_REQ& asked, std::string_view authorities) {
  TRY(auto store, store_of(authorities));
  TRY(const auto answer, answer_in(bytes));
  const Check check{TS_VERIFY_CTX_new()};
  if (!check || TS_REQ_to_TS_VERIFY_CTX(&asked, check.get()) == nullptr)
    return Error{Code::kFailed, "OpenSSL checks no time stamp: " + openssl_says()};
  TS_VERIFY_CTX_add_flags(check.get(), TS_VFY_SIGNATURE);
  TS_VERIFY_CTX_set_store(check.get(), store.release());  // it is the context's from here on
  ERR_clear_error();
  const bool holds = TS_RESP_verify_response(check.get(), answer.get()) == 1;
  if (!holds && !is_granted(*answer))
    return Error{Code::kFailed, "the time-stamping authority refused: " + openssl_says()};
  if (!holds) return Error{Code::kUntrusted, "the time stamp does not hold: " + openssl_says()};
  if (!is_signed_strongly(*TS_RESP_get_token(answer.get())))
    return Error{Code::kUntrusted,
                 "the time stamp does not hold: it is signed over a digest weaker than SHA-256"};
  return stamp_in(*answer);
}

}  // namespace

Result<std::string> time_stamp_request(std::string_view bytes) {
  const auto asked = asked_for(bytes);
  unsigned char* der = nullptr;
  const int size = asked && give_nonce(*asked) ? i2d_TS_REQ(asked.get(), &der) : 0;
  if (size <= 0)
    return Error{Code::kFailed, "OpenSSL makes no request for a time stamp: " + openssl_says()};
  std::string request{reinterpret_cast<const char*>(der), static_cast<std::size_t>(size)};
  OPENSSL_free(der);
  return request;
}

Result<TimeStamp> check_answer(std::string_view answer, std::string_view request,
                               std::string_view authorities) {
  const auto* at = raw(request);
  const Asked asked{d2i_TS_REQ(nullptr, &at, static_cast<long>(request.size()))};
  ERR_clear_error();
  if (!asked) return Error{Code::kInvalid, "it is no request for a time stamp"};
  return check(answer, *asked, authorities);
}

Result<TimeStamp> check_time_stamp(std::string_view answer, std::string_view bytes,
                                   std::string_view authorities) {
  const auto asked = asked_for(bytes);
  if (!asked) return Error{Code::kFailed, "OpenSSL checks no time stamp: " + openssl_says()};
  return check(answer, *asked, authorities);
}

Result<void> check_authorities(std::string_view authorities) {
  TRY([[maybe_unused]] const auto store, store_of(authorities));
  return ok();
}

}  // namespace cupel
