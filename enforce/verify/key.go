package verify

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Accepted sizes of RSA keys. Signatures with longer keys would take too long to check.
const (
	minRSABits = 2048
	maxRSABits = 4096
)

// algorithm is the name of a signature algorithm (RFC 9421, section 3.3).
type algorithm string

const (
	algorithmEd25519 algorithm = "ed25519"
	algorithmRSAPSS  algorithm = "rsa-pss-sha512"
	algorithmECDSA   algorithm = "ecdsa-p256-sha256"
)

// jwkAlgorithms maps each algorithm to the values of `alg` in a JWK, in lower case: those of RFC 7518 and RFC 8037, and those that
// operators use.
var jwkAlgorithms = map[algorithm][]string{
	algorithmEd25519: {"eddsa", "ed25519"},
	algorithmRSAPSS:  {"ps512", "rsa-pss-sha512"},
	algorithmECDSA:   {"es256", "ecdsa-p256-sha256"},
}

// publicKey is a key of a directory. It is immutable.
type publicKey struct {
	thumbprint string // SHA-256 in base64url (RFC 7638); computed, never taken from `kid`
	algorithm  algorithm
	key        crypto.PublicKey
	notBefore  time.Time // zero: no limit
	expires    time.Time // zero: no limit
}

// parseKey parses a JSON Web Key (RFC 7517). It returns an error if the key is not for signatures, or if its type is not supported.
func parseKey(text []byte) (*publicKey, error) {
	var facts struct {
		Use string   `json:"use"`
		Ops []string `json:"key_ops"`
		Nbf float64  `json:"nbf"`
		Exp float64  `json:"exp"`
	}
	if err := json.Unmarshal(text, &facts); err != nil {
		return nil, err
	}
	if facts.Use != "" && facts.Use != "sig" || facts.Ops != nil && !slices.Contains(facts.Ops, "verify") {
		return nil, errors.New("the key is not for signatures: `use`, if present, must be \"sig\", and `key_ops`, if " +
			"present, must contain \"verify\"")
	}
	var parsed jose.JSONWebKey
	if err := parsed.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	if !parsed.IsPublic() {
		return nil, errors.New("the directory publishes a key that is not public")
	}
	k := &publicKey{key: parsed.Key, notBefore: jwkTime(facts.Nbf), expires: jwkTime(facts.Exp)}
	switch key := parsed.Key.(type) {
	case ed25519.PublicKey:
		k.algorithm = algorithmEd25519
	case *rsa.PublicKey:
		k.algorithm = algorithmRSAPSS
		if bits := key.N.BitLen(); bits < minRSABits || bits > maxRSABits {
			return nil, fmt.Errorf("the modulus of the RSA key has %d bits: it must have %d to %d bits", bits, minRSABits, maxRSABits)
		}
	case *ecdsa.PublicKey:
		k.algorithm = algorithmECDSA
		if key.Curve != elliptic.P256() {
			return nil, fmt.Errorf("the curve %s is not supported: P-256 is", key.Params().Name)
		}
	default:
		return nil, fmt.Errorf("keys of the type %T are not supported: Ed25519, RSA and P-256 are", key)
	}
	if alg := parsed.Algorithm; alg != "" && !slices.Contains(jwkAlgorithms[k.algorithm], strings.ToLower(alg)) {
		return nil, fmt.Errorf("the algorithm %.20q does not fit the key: it must be %s", alg, k.algorithm)
	}
	sum, err := parsed.Thumbprint(crypto.SHA256)
	k.thumbprint = base64.RawURLEncoding.EncodeToString(sum)
	return k, err
}

// jwkTime converts seconds since 1970. It returns the zero time if the number is absent or too large.
func jwkTime(seconds float64) time.Time {
	if seconds <= 0 || seconds > 1<<40 {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0)
}

// verify reports whether signature is a valid signature of base by this key.
func (k *publicKey) verify(base, signature []byte) bool {
	switch key := k.key.(type) {
	case ed25519.PublicKey:
		return ed25519.Verify(key, base, signature)
	case *rsa.PublicKey:
		sum := sha512.Sum512(base)
		return rsa.VerifyPSS(key, crypto.SHA512, sum[:], signature, &rsa.PSSOptions{SaltLength: 64}) == nil
	case *ecdsa.PublicKey:
		if len(signature) != 64 {
			return false
		}
		sum := sha256.Sum256(base)
		return ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:]))
	}
	return false
}

// testKeys are the thumbprints of the keys in RFC 9421, appendices B.1.1 to B.1.4, which publish the private keys too.
var testKeys = []string{
	"BHj8s0GPnMEQtkaULIM-PLgEhLBbuGUQ1vMxmBWZzEo",
	"oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA",
	"ydQXMtvbsOsZyFir-Y7A8t7fKEM1gbKPvyFkdpu4fvI",
	"poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",
}
