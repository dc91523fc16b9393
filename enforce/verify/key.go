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
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
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

// jwk is a JSON Web Key, RFC 7517.
type jwk struct {
	Kty string   `json:"kty"`
	Crv string   `json:"crv"`
	X   string   `json:"x"`
	Y   string   `json:"y"`
	N   string   `json:"n"`
	E   string   `json:"e"`
	D   string   `json:"d"` // private keys only
	Alg string   `json:"alg"`
	Use string   `json:"use"`
	Ops []string `json:"key_ops"`
	Nbf float64  `json:"nbf"`
	Exp float64  `json:"exp"`
}

// publicKey parses a key. It returns an error if the key is not for signatures, or if its type is not supported.
func (j *jwk) publicKey() (*publicKey, error) {
	if j.Use != "" && j.Use != "sig" || j.Ops != nil && !slices.Contains(j.Ops, "verify") {
		return nil, errors.New("the key is not for signatures: `use`, if present, must be \"sig\", and `key_ops`, if " +
			"present, must contain \"verify\"")
	}
	if j.D != "" {
		return nil, errors.New("the directory publishes the private key")
	}
	k := &publicKey{notBefore: jwkTime(j.Nbf), expires: jwkTime(j.Exp)}
	var canonical string
	var err error
	switch {
	case j.Kty == "OKP" && j.Crv == "Ed25519":
		canonical, err = k.readEd25519(j)
	case j.Kty == "RSA":
		canonical, err = k.readRSA(j)
	case j.Kty == "EC" && j.Crv == "P-256":
		canonical, err = k.readECDSA(j)
	default:
		return nil, fmt.Errorf("the key type %.20q with the curve %.20q is not supported: Ed25519, RSA and P-256 are", j.Kty, j.Crv)
	}
	if err != nil {
		return nil, err
	}
	if j.Alg != "" && !slices.Contains(jwkAlgorithms[k.algorithm], strings.ToLower(j.Alg)) {
		return nil, fmt.Errorf("the algorithm %.20q does not fit the key: it must be %s", j.Alg, k.algorithm)
	}
	sum := sha256.Sum256([]byte(canonical))
	k.thumbprint = base64.RawURLEncoding.EncodeToString(sum[:])
	return k, nil
}

// jwkTime converts seconds since 1970. It returns the zero time if the number is absent or too large.
func jwkTime(seconds float64) time.Time {
	if seconds <= 0 || seconds > 1<<40 {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0)
}

// The functions below return the canonical JSON from which the thumbprint is computed (RFC 7638, section 3.2; RFC 8037, appendix A.3). They
// encode the values again, because another encoding of the same key must not give another thumbprint.

func (k *publicKey) readEd25519(j *jwk) (string, error) {
	x, err := decodeBase64URL(j.X)
	if err != nil || len(x) != ed25519.PublicKeySize {
		return "", errors.New("x of an Ed25519 key must be 32 octets in base64url")
	}
	k.algorithm, k.key = algorithmEd25519, ed25519.PublicKey(x)
	return `{"crv":"Ed25519","kty":"OKP","x":"` + encodeBase64URL(x) + `"}`, nil
}

func (k *publicKey) readRSA(j *jwk) (string, error) {
	n, err := decodeBase64URL(j.N)
	if err != nil {
		return "", errors.New("n of an RSA key must be in base64url")
	}
	e, err := decodeBase64URL(j.E)
	if err != nil || len(e) == 0 || len(e) > 4 {
		return "", errors.New("e of an RSA key must be 1 to 4 octets in base64url")
	}
	modulus, exponent := new(big.Int).SetBytes(n), new(big.Int).SetBytes(e)
	if bits := modulus.BitLen(); bits < minRSABits || bits > maxRSABits || modulus.Bit(0) == 0 {
		return "", fmt.Errorf("the modulus of the RSA key has %d bits: it must be odd and have %d to %d bits", bits, minRSABits, maxRSABits)
	}
	if exponent.Bit(0) == 0 || exponent.Int64() < 3 || exponent.Int64() > 1<<31-1 {
		return "", errors.New("the exponent of the RSA key must be odd, at least 3 and less than 2^31")
	}
	k.algorithm, k.key = algorithmRSAPSS, &rsa.PublicKey{N: modulus, E: int(exponent.Int64())}
	return `{"e":"` + encodeBase64URL(exponent.Bytes()) + `","kty":"RSA","n":"` + encodeBase64URL(modulus.Bytes()) + `"}`, nil
}

func (k *publicKey) readECDSA(j *jwk) (string, error) {
	x, errX := decodeBase64URL(j.X)
	y, errY := decodeBase64URL(j.Y)
	if errX != nil || errY != nil || len(x) != 32 || len(y) != 32 {
		return "", errors.New("x and y of a P-256 key must be 32 octets each in base64url")
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, x, y))
	if err != nil {
		return "", fmt.Errorf("parsing the P-256 key: %w", err)
	}
	k.algorithm, k.key = algorithmECDSA, key
	return `{"crv":"P-256","kty":"EC","x":"` + encodeBase64URL(x) + `","y":"` + encodeBase64URL(y) + `"}`, nil
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

// decodeBase64URL also accepts padding, which some operators add.
func decodeBase64URL(text string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
}

func encodeBase64URL(octets []byte) string { return base64.RawURLEncoding.EncodeToString(octets) }

// testKeys are the thumbprints of the keys in RFC 9421, appendices B.1.1 to B.1.4, which publish the private keys too.
var testKeys = []string{
	"BHj8s0GPnMEQtkaULIM-PLgEhLBbuGUQ1vMxmBWZzEo",
	"oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA",
	"ydQXMtvbsOsZyFir-Y7A8t7fKEM1gbKPvyFkdpu4fvI",
	"poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",
}
