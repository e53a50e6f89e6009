import com.helger.diagnostics.error.IError;
import com.helger.io.resource.FileSystemResource;
import com.helger.phive.api.execute.ValidationExecutionManager;
import com.helger.phive.api.executorset.ValidationExecutorSetRegistry;
import com.helger.phive.api.validity.IValidityDeterminator;
import com.helger.phive.en16931.EN16931Validation;
import com.helger.phive.xml.source.IValidationSourceXML;
import com.helger.phive.xml.source.ValidationSourceXML;
import java.io.File;
import java.util.Locale;

/** Checks the files of its arguments by the schema of their syntax and the rules of EN 16931. Prints a line for each. */
public class Validate {
  public static void main(String[] files) {
    var registry = new ValidationExecutorSetRegistry<IValidationSourceXML>();
    EN16931Validation.initEN16931(registry);
    for (var file : files) {
      var id =
          file.endsWith(".cii.xml")
              ? EN16931Validation.VID_CII_1315
              : file.contains("credit-note")
                  ? EN16931Validation.VID_UBL_CREDIT_NOTE_1315
                  : EN16931Validation.VID_UBL_INVOICE_1315;
      var results =
          ValidationExecutionManager.executeValidation(
              IValidityDeterminator.createDefault(),
              registry.getOfID(id),
              ValidationSourceXML.create(new FileSystemResource(new File(file))));
      // Warnings count, too: a careful receiver reads them.
      var problems = results.getAllFailures();
      System.out.println((problems.isEmpty() ? "valid " : "invalid ") + file);
      for (IError problem : problems) System.out.println("  " + problem.getAsString(Locale.ENGLISH));
    }
  }
}
