import java.io.FileInputStream;
import java.io.InputStream;
import java.security.KeyStore;
import java.util.Collections;
import java.util.HexFormat;

/** Prints the certificates of the store that Java was told to trust, one a line in hexadecimal. */
public class TrustStore {
    public static void main(String[] arguments) throws Exception {
        KeyStore store = KeyStore.getInstance(System.getProperty("javax.net.ssl.trustStoreType"));
        try (InputStream in = new FileInputStream(System.getProperty("javax.net.ssl.trustStore"))) {
            store.load(in, arguments[0].toCharArray());
        }
        for (String alias : Collections.list(store.aliases())) {
            System.out.println(HexFormat.of().formatHex(store.getCertificate(alias).getEncoded()));
        }
    }
}
